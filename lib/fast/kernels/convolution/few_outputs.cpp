#include "fast/kernels/convolution/few_outputs.hpp"

#include <array>
#include <utility>
#include <vector>

#include "fast/kernels/convolution/direct.hpp"
#include "fast/kernels/convolution/planar.hpp"
#include "fast/kernels/convolution/repeated.hpp"

namespace ovir::fast {
namespace {

// So many times fewer multiplications are worth it; where planes are read, that nothing but them is written is enough.
constexpr double kWorthIt = 1.4, kWorthItOfPlanes = 1;

i64 pixels_of(const ConvolutionShape& s) { return kBlock / s.outputs; }

/// That of `pixels_of` neighboring pixels as one, whose outputs are theirs one after another.
ConvolutionShape joined(const ConvolutionShape& s) {
  auto j = s;
  const auto pixels = pixels_of(s);
  j.outputs = pixels * s.outputs;
  j.kernel_width = s.kernel_width + (pixels - 1) * s.stride_x;
  j.stride_x = pixels * s.stride_x;
  j.out_width = ceil_div(s.out_width, pixels);
  return j;
}

i64 result_size(const ConvolutionShape& j) { return j.batch * j.out_plane() * kBlock; }

/// A row of joined pixels, each with `outputs` numbers, into a row of each output's plane.
template <i64 outputs>
void split_row(const float* from, i64 width, float* to, i64 plane) {
  constexpr auto pixels = kBlock / outputs;
  for (i64 x = 0; x < width; x += pixels, from += kBlock) {
    const auto some = std::min(pixels, width - x);
    for (i64 output = 0; output < outputs; ++output)
      for (i64 i = 0; i < some; ++i) to[output * plane + x + i] = from[i * outputs + output];
  }
}
using SplitRow = void (*)(const float*, i64, float*, i64);
template <std::size_t... i>
constexpr std::array<SplitRow, sizeof...(i)> split_rows(std::index_sequence<i...>) {
  return {split_row<static_cast<i64>(i) + 1>...};
}
constexpr auto kSplitRow = split_rows(std::make_index_sequence<kBlock / 2>());

/// A row of joined pixels into a row of blocks.
void spread_row(const float* from, i64 outputs, i64 width, float* to) {
  const auto pixels = kBlock / outputs;
  for (i64 x = 0; x < width; x += pixels, from += kBlock)
    for (i64 i = 0; i < std::min(pixels, width - x); ++i, to += kBlock) {
      std::copy_n(from + i * outputs, outputs, to);
      std::fill_n(to + outputs, kBlock - outputs, 0.0f);
    }
}

}  // namespace

bool few_outputs_pays(const ConvolutionShape& s) {
  if (s.groups > 1 || s.outputs < 1 || s.outputs > kBlock / 2 || s.dilation_x != 1) return false;
  const auto j = joined(s);
  const auto gain = static_cast<double>(pixels_of(s) * s.kernel_width) / static_cast<double>(j.kernel_width);
  return j.taps() <= kMaxTaps && gain >= (few_outputs_reads_planes(s) ? kWorthItOfPlanes : kWorthIt);
}

bool few_outputs_reads_planes(const ConvolutionShape& s) {
  return s.channels <= kFewChannels && planar_taps(joined(s)) <= kMaxPlanarTaps;
}

i64 few_outputs_filters_size(const ConvolutionShape& s) {
  return few_outputs_reads_planes(s) ? planar_filters_size(joined(s)) : direct_filters_size(joined(s));
}

void few_outputs_pack(const ConvolutionShape& s, const float* filters, float* to, ThreadPool& pool) {
  const auto j = joined(s);
  std::vector<float> wide(j.outputs * j.channels * j.taps());
  const auto rows = s.channels * s.kernel_height;
  for (i64 output = 0; output < j.outputs; ++output)
    for (i64 row = 0; row < rows; ++row)
      std::copy_n(filters + (output % s.outputs * rows + row) * s.kernel_width, s.kernel_width,
                  wide.data() + (output * rows + row) * j.kernel_width + output / s.outputs * s.stride_x);
  if (few_outputs_reads_planes(s)) planar_pack(j, wide.data(), to, pool);
  else direct_pack(j, Weights(wide.data()), to, pool);
}

i64 few_outputs_scratch_size(const ConvolutionShape& s, int threads) {
  const auto j = joined(s);
  return result_size(j) +
         (few_outputs_reads_planes(s) ? planar_scratch_size(j, threads) : direct_scratch_size(j, threads));
}

void few_outputs_convolution(const ConvolutionShape& s, const float* filters, const float* in, float* out, bool planes,
                             const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (s.out_plane() == 0) return;
  const auto j = joined(s);
  const RepeatedEpilogue repeated(epilogue, s.outputs, pixels_of(s));
  auto* const compute = few_outputs_reads_planes(s) ? planar_convolution : direct_convolution;
  compute(j, filters, in, scratch, repeated.get(), scratch + result_size(j), pool);
  constexpr i64 kPixelsAChunk = 4096;
  const auto rows = s.batch * s.out_height, chunks = std::min(rows, ceil_div(rows * s.out_width, kPixelsAChunk));
  parallel(pool, chunks, [&](i64 chunk) {
    const Part part(rows, chunks, chunk);
    for (auto y = part.begin; y < part.end; ++y) {
      const auto* from = scratch + y * j.out_width * kBlock;
      const auto image = y / s.out_height, row = y % s.out_height * s.out_width;
      if (planes)
        kSplitRow[s.outputs - 1](from, s.out_width, out + image * s.outputs * s.out_plane() + row, s.out_plane());
      else spread_row(from, s.outputs, s.out_width, out + (image * s.out_plane() + row) * kBlock);
    }
  });
}

}  // namespace ovir::fast
