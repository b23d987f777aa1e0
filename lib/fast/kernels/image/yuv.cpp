#include "fast/kernels/image/yuv.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPixels = 128;  // that are computed at a time
using Numbers = std::array<float, kPixels>;

float clipped(float v) { return std::min(std::max(v, 0.0F), 255.0F); }

/// Halves away from zero. Only the number just below 0.5 would come out otherwise, which no bytes of YUV give.
std::uint32_t rounded(float v) { return static_cast<std::uint32_t>(static_cast<std::int32_t>(v + 0.5F)); }

/// `n` pixels, of which each is a word that overlaps the next one.
void store(const Numbers& first, const Numbers& second, const Numbers& third, i64 n, std::uint8_t* to) {
  std::array<std::uint32_t, kPixels> words;
  for (i64 i = 0; i < n; ++i) words[i] = rounded(first[i]) | rounded(second[i]) << 8 | rounded(third[i]) << 16;
  for (i64 i = 0; i + 1 < n; ++i) std::memcpy(to + 3 * i, &words[i], sizeof words[i]);
  std::memcpy(to + 3 * (n - 1), &words[n - 1], 3);
}
void store(const Numbers& first, const Numbers& second, const Numbers& third, i64 n, float* to) {
  for (i64 i = 0; i < n; ++i) {
    to[3 * i] = first[i];
    to[3 * i + 1] = second[i];
    to[3 * i + 2] = third[i];
  }
}

/// Two rows, which share a row of chroma whose values lie `step` apart.
template <i64 step, class T>
void convert_rows(const T* luma, const T* u, const T* v, i64 width, bool bgr, T* out) {
  Numbers red, green, blue, to_red, from_green, more_from_green, to_blue;
  std::array<float, kPixels / 2> chroma_u, chroma_v;
  // Each of two pixels.
  const auto twice = [](const auto& chroma, float factor, i64 pairs, Numbers& to) {
    for (i64 i = 0; i < pairs; ++i) to[2 * i] = to[2 * i + 1] = factor * chroma[i];
  };
  for (i64 begin = 0; begin < width; begin += kPixels) {
    const auto n = std::min(kPixels, width - begin), pairs = n / 2;
    for (i64 i = 0; i < pairs; ++i) {
      const auto at = (begin / 2 + i) * step;
      chroma_u[i] = static_cast<float>(u[at]) - 128.0F;
      chroma_v[i] = static_cast<float>(v[at]) - 128.0F;
    }
    twice(chroma_v, 1.596F, pairs, to_red);
    twice(chroma_u, 0.391F, pairs, from_green);
    twice(chroma_v, 0.813F, pairs, more_from_green);
    twice(chroma_u, 2.018F, pairs, to_blue);
    for (i64 row = 0; row < 2; ++row) {
      const auto first = row * width + begin;
      for (i64 i = 0; i < n; ++i) {
        const float l = 1.164F * (static_cast<float>(luma[first + i]) - 16.0F);
        red[i] = clipped(l + to_red[i]);
        green[i] = clipped(l - from_green[i] - more_from_green[i]);
        blue[i] = clipped(l + to_blue[i]);
      }
      store(bgr ? blue : red, green, bgr ? red : blue, n, out + 3 * first);
    }
  }
}

}  // namespace

template <class T>
void from_yuv(const YuvImages& what, const T* luma, const T* u, const T* v, T* out, ThreadPool& pool) {
  const auto& w = what;
  const auto pairs = w.height / 2;  // of rows
  parallel_ranges(pool, w.batch * pairs, static_cast<double>(4 * w.width), [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto n = i / pairs, pair = i % pairs;
      const auto chroma = n * w.chroma_stride + pair * (w.width / 2) * w.chroma_step;
      const auto convert = w.chroma_step == 1 ? convert_rows<1, T> : convert_rows<2, T>;
      convert(luma + n * w.luma_stride + pair * 2 * w.width, u + chroma, v + chroma, w.width, w.bgr,
              out + i * 2 * w.width * 3);
    }
  });
}

template void from_yuv(const YuvImages&, const float*, const float*, const float*, float*, ThreadPool&);
template void from_yuv(const YuvImages&, const std::uint8_t*, const std::uint8_t*, const std::uint8_t*, std::uint8_t*,
                       ThreadPool&);

}  // namespace ovir::fast
