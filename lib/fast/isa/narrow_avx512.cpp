// Compiled with AVX-512's BW, VL, BF16 and VNNI.
#include "fast/isa/narrow.hpp"
#if defined(__AVX512BF16__) && defined(__AVX512VNNI__)
#include <immintrin.h>

namespace ovir::fast {
namespace {
using Vec = __m512;
using Words = Word __attribute__((vector_size(64)));
using Ints = int __attribute__((vector_size(64)));
constexpr i64 kWidth = 16;
constexpr int kPixels = 14;
inline Vec load(const float* p) { return _mm512_loadu_ps(p); }
inline void store(float* p, Vec v) { _mm512_storeu_ps(p, v); }
inline Vec spread(float s) { return _mm512_set1_ps(s); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
inline Vec min(Vec a, Vec b) { return _mm512_min_ps(a, b); }
inline Vec max(Vec a, Vec b) { return _mm512_max_ps(a, b); }
inline Words load_words(const Word* p) { return (Words)_mm512_loadu_si512(p); }
inline void store_words(Word* p, Words w) { _mm512_storeu_si512(p, (__m512i)w); }
inline Words spread_word(const Word* p) { return (Words)_mm512_set1_epi32(static_cast<int>(*p)); }
// Inline assembly: with the intrinsics g++ 12 copies the sums from register to register, and to memory and back.
[[gnu::always_inline]] inline void dot_bf16(Words a, Words b, Vec& sum) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}
[[gnu::always_inline]] inline void dot_u8(Words a, Words b, Ints& sum) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}
inline void store_bf16(std::uint16_t* p, Vec v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), (__m256i)_mm512_cvtneps_pbh(v));
}
inline void store_bf16(std::uint16_t* p, Vec first, Vec second) {
  _mm512_storeu_si512(p, (__m512i)_mm512_cvtne2ps_pbh(second, first));
}
inline Vec load_bf16(const std::uint16_t* p) {
  return _mm512_castsi512_ps(
      _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))), 16));
}
[[gnu::always_inline]] inline Words merge(Vec even, Vec odd) {
  const auto low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(even)),
             high = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(odd));
  return (Words)_mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}
/// To the nearest, halves to even.
[[gnu::always_inline]] inline Ints to_levels(Vec v) { return (Ints)_mm512_cvtps_epi32(v); }
inline void store_u8(std::uint8_t* p, Vec v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v)));
}
/// Bounds of levels, in bytes.
struct LevelBounds {
  __m512i low, high;
  LevelBounds(float lowest, float highest) : low(bytes(lowest)), high(bytes(highest)) {}
  static __m512i bytes(float level) {
    const int whole = _mm_cvtss_si32(_mm_set_ss(level));
    return _mm512_set1_epi8(static_cast<char>(whole < 0 ? 0 : (whole > 255 ? 255 : whole)));
  }
  [[gnu::always_inline]] __m512i within(__m512i levels) const {
    return _mm512_min_epu8(high, _mm512_max_epu8(low, levels));
  }
};
/// Two pixels of 32 channels, as bytes in the order of their lanes.
[[gnu::always_inline]] inline __m512i packed_levels(const Vec (&v)[2], const Vec (&w)[2]) {
  const auto pair = [](const Vec(&x)[2]) {
    return _mm512_packs_epi32(_mm512_cvtps_epi32(x[0]), _mm512_cvtps_epi32(x[1]));
  };
  return _mm512_packus_epi16(pair(v), pair(w));
}
[[gnu::always_inline]] inline void store_levels(std::uint8_t* a, std::uint8_t* b, __m512i levels) {
  const auto order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const auto both = _mm512_permutexvar_epi32(order, levels);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(a), _mm512_castsi512_si256(both));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(b), _mm512_extracti64x4_epi64(both, 1));
}
/// Two pixels of 32 channels; the second way for values within ±2^30, which saturate as they are packed.
inline void store_u8(std::uint8_t* a, std::uint8_t* b, const Vec (&v)[2], const Vec (&w)[2]) {
  store_levels(a, b, packed_levels(v, w));
}
inline void store_u8(std::uint8_t* a, std::uint8_t* b, const Vec (&v)[2], const Vec (&w)[2],
                     const LevelBounds& bounds) {
  store_levels(a, b, bounds.within(packed_levels(v, w)));
}
inline Vec load_u8(const std::uint8_t* p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}

/// Four vectors of bytes become the words of 64 channels: lane l of vector v holds channel l/4·16 + v·4 + l%4.
[[gnu::always_inline]] inline void interleave(__m512i a, __m512i b, __m512i c, __m512i d, Words (&to)[4]) {
  const auto ab = _mm512_unpacklo_epi8(a, b), ab_high = _mm512_unpackhi_epi8(a, b), cd = _mm512_unpacklo_epi8(c, d),
             cd_high = _mm512_unpackhi_epi8(c, d);
  to[0] = (Words)_mm512_unpacklo_epi16(ab, cd);
  to[1] = (Words)_mm512_unpackhi_epi16(ab, cd);
  to[2] = (Words)_mm512_unpacklo_epi16(ab_high, cd_high);
  to[3] = (Words)_mm512_unpackhi_epi16(ab_high, cd_high);
}

/// What follows the sums of a pixel.
struct U8Ending {
  Vec scale[4], shift[4], low, high;
  LevelBounds bounds;

  /// `pair`: two pixels of 32 channels lie where one of 64 does.
  U8Ending(const U8DepthwiseRows& r, bool pair) : low(spread(r.low)), high(spread(r.high)), bounds(r.low, r.high) {
    const auto lane = pair ? _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 0, 1, 2, 3, 16, 17, 18, 19)
                           : _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 32, 33, 34, 35, 48, 49, 50, 51);
    for (int v = 0; v < 4; ++v) {
      scale[v] = _mm512_i32gather_ps(lane, r.scale + 4 * v, 4);
      shift[v] = _mm512_i32gather_ps(lane, r.shift + 4 * v, 4);
    }
  }
  [[gnu::always_inline]] Vec value(const Ints (&sum)[4], int v) const {
    return __builtin_convertvector(sum[v], Vec) * scale[v] + shift[v];
  }
  [[gnu::always_inline]] __m512i levels(const U8DepthwiseRows& r, const Ints (&sum)[4]) const {
    const auto packed = [](auto level) __attribute__((always_inline)) {
      return _mm512_packus_epi16(_mm512_packs_epi32(level(0), level(1)), _mm512_packs_epi32(level(2), level(3)));
    };
    if (r.small)
      return bounds.within(
          packed([&](int v) __attribute__((always_inline)) { return _mm512_cvtps_epi32(value(sum, v)); }));
    return packed([&](int v) __attribute__((always_inline)) {
      return _mm512_cvtps_epi32(min(high, max(low, value(sum, v))));
    });
  }
  [[gnu::always_inline]] void store_pixel(const U8DepthwiseRows& r, i64 i, const Ints (&sum)[4]) const {
    if (!r.wide) return _mm512_storeu_si512(r.out + i * 64, levels(r, sum));
    for (int v = 0; v < 4; ++v) {
      float lanes[16];
      store(lanes, min(high, max(low, value(sum, v))));
      for (i64 block = 0; block < r.wide_blocks; ++block)
        __builtin_memcpy(r.wide + block * r.wide_block + i * 16 + v * 4, lanes + block * 4, 16);
    }
  }
};

/// The words that one instruction multiplies: the bytes of four taps, interleaved. Where there are fewer, zeros.
template <class Bytes>
[[gnu::always_inline]] inline void four_taps(i64 count, Bytes bytes, Words (&to)[4]) {
  const auto zero = _mm512_setzero_si512();
  interleave(bytes(0), count > 1 ? bytes(1) : zero, count > 2 ? bytes(2) : zero, count > 3 ? bytes(3) : zero, to);
}

/// 3 × 3 taps and a step of one pixel: the words of a column of three, which `read` gives, serve three pixels. `store`
/// receives each pixel's sums.
template <class Read, class Store>
static inline __attribute__((always_inline)) void u8_columns(i64 pixels, const Words (&weights)[3][4], Read read,
                                                             Store store) {
  Words column[3][4];
  const auto pixel = [&](i64 x, const Words(&a)[4], const Words(&b)[4], Words(&c)[4]) __attribute__((always_inline)) {
    read(x + 2, c);
    Ints sum[4] = {};
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      dot_u8(a[v], weights[0][v], sum[v]);
      dot_u8(b[v], weights[1][v], sum[v]);
      dot_u8(c[v], weights[2][v], sum[v]);
    }
    store(x, sum);
  };
  read(0, column[0]);
  read(1, column[1]);
  i64 x = 0;
  for (; x + 3 <= pixels; x += 3) {
    pixel(x, column[0], column[1], column[2]);
    pixel(x + 1, column[1], column[2], column[0]);
    pixel(x + 2, column[2], column[0], column[1]);
  }
  if (x < pixels) pixel(x, column[0], column[1], column[2]);
  if (x + 1 < pixels) pixel(x + 1, column[1], column[2], column[0]);
}

/// Two rows of which at most 32 channels count: those of the second row take the place of the others.
static void u8_depthwise3_pair(const U8DepthwiseRows& r, i64 y) {
  const auto half = [](const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); };
  Words weights[3][4];
  for (int c = 0; c < 3; ++c)
    four_taps(
        3, [&](i64 t) { return _mm512_broadcast_i64x4(half(r.weights + (3 * t + c) * 64)); }, weights[c]);
  const U8Ending ending(r, true);
  const Word* in = r.in + y * r.row;
  const auto read = [&](i64 x, Words(&to)[4]) __attribute__((always_inline)) {
    four_taps(
        3,
        [&](i64 t) {
          const Word* from = in + r.taps[3 * t] + x * kBlock;
          return _mm512_inserti64x4(_mm512_castsi256_si512(half(from)), half(from + r.row), 1);
        },
        to);
  };
  const auto store = [&](i64 x, const Ints(&sum)[4]) __attribute__((always_inline)) {
    const auto levels = ending.levels(r, sum);
    auto* out = r.out + (y * r.pixels + x) * 64;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_castsi512_si256(levels));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + r.pixels * 64), _mm512_extracti64x4_epi64(levels, 1));
  };
  u8_columns(r.pixels, weights, read, store);
}

/// Rows by themselves, or in pairs where half of a block's channels count.
static void u8_depthwise3(const U8DepthwiseRows& r) {
  Words weights[3][4];
  for (int c = 0; c < 3; ++c)
    four_taps(
        3, [&](i64 t) { return _mm512_loadu_si512(r.weights + (3 * t + c) * 64); }, weights[c]);
  const U8Ending ending(r, false);
  i64 y = 0;
  for (; r.channels <= 32 && !r.wide && y + 2 <= r.rows; y += 2) u8_depthwise3_pair(r, y);
  for (; y < r.rows; ++y) {
    const Word* in = r.in + y * r.row;
    const auto read = [&](i64 x, Words(&to)[4]) __attribute__((always_inline)) {
      four_taps(
          3, [&](i64 t) { return _mm512_loadu_si512(in + r.taps[3 * t] + x * kBlock); }, to);
    };
    const auto store = [&](i64 x, const Ints(&sum)[4]) __attribute__((always_inline)) {
      ending.store_pixel(r, y * r.pixels + x, sum);
    };
    u8_columns(r.pixels, weights, read, store);
  }
}

static bool is_three_by_three(const U8DepthwiseRows& r) {
  if (r.tap_count != 9 || r.step != kBlock) return false;
  for (i64 t = 0; t < 9; ++t)
    if (r.taps[t] != r.taps[t / 3 * 3] + t % 3 * kBlock) return false;
  return true;
}

// Four taps at a time.
static void u8_depthwise(const U8DepthwiseRows& r) {
  if (is_three_by_three(r)) return u8_depthwise3(r);
  constexpr i64 kMaxGroups = 16;
  const i64 whole = r.tap_count / 4, rest = r.tap_count % 4;
  Words weights[kMaxGroups][4];
  for (i64 g = 0; 4 * g < r.tap_count; ++g)
    four_taps(
        r.tap_count - 4 * g, [&](i64 t) { return _mm512_loadu_si512(r.weights + (4 * g + t) * 64); }, weights[g]);
  const U8Ending ending(r, false);
  for (i64 i = 0; i < r.rows * r.pixels; ++i) {
    const Word* in = r.in + i / r.pixels * r.row + i % r.pixels * r.step;
    Ints sum[4] = {};
    const auto add = [&](i64 g, i64 count) __attribute__((always_inline)) {
      Words four[4];
      four_taps(
          count, [&](i64 t) { return _mm512_loadu_si512(in + r.taps[4 * g + t]); }, four);
      for (int v = 0; v < 4; ++v) dot_u8(four[v], weights[g][v], sum[v]);
    };
    for (i64 g = 0; g < whole; ++g) add(g, 4);
    if (rest > 0) add(whole, rest);
    ending.store_pixel(r, i, sum);
  }
}
#include "fast/isa/digits.inl"
#include "fast/isa/narrow.inl"
constexpr NarrowTable with_digits() {
  auto table = narrow_table("avx512");
  table.to_digits = to_digits;
  table.dot_digits = dot_digits;
  return table;
}
}  // namespace
extern const NarrowTable kNarrowAvx512Table = with_digits();
}  // namespace ovir::fast
#endif
