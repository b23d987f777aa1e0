#include "fast/kernels/convolution/transposed_few.hpp"

#include <vector>

#include "fast/kernels/convolution/direct.hpp"
#include "fast/kernels/convolution/repeated.hpp"

namespace ovir::fast {
namespace {

/// Input rows (or columns) that outputs of an axis read, from the one of the same number on: of phase p by tap t the
/// one at (p + pad - t·dilation) / stride, where that is whole.
struct Reach {
  i64 first = 0, last = 0;
  Reach(i64 pad, i64 taps, i64 dilation, i64 stride) {
    for (i64 phase = 0; phase < stride; ++phase)
      for (i64 tap = 0; tap < taps; ++tap) {
        const auto at = phase + pad - tap * dilation;
        if (at % stride != 0) continue;
        first = std::min(first, at / stride);
        last = std::max(last, at / stride);
      }
  }
};

Reach rows_of(const ConvolutionShape& s) { return {s.pad_top, s.kernel_height, s.dilation_y, s.stride_y}; }
Reach columns_of(const ConvolutionShape& s) { return {s.pad_left, s.kernel_width, s.dilation_x, s.stride_x}; }

/// That of all phases: pixel (y, x) has the outputs of (y·stride_y + py, x·stride_x + px), those of the first phase
/// first.
ConvolutionShape joined(const ConvolutionShape& s) {
  const auto rows = rows_of(s), columns = columns_of(s);
  auto j = s;
  j.outputs = s.stride_y * s.stride_x * s.outputs;
  j.out_height = ceil_div(s.out_height, s.stride_y);
  j.out_width = ceil_div(s.out_width, s.stride_x);
  j.kernel_height = rows.last - rows.first + 1;
  j.kernel_width = columns.last - columns.first + 1;
  j.stride_y = j.stride_x = j.dilation_y = j.dilation_x = 1;
  j.pad_top = -rows.first;
  j.pad_left = -columns.first;
  return j;
}

i64 result_size(const ConvolutionShape& j) { return j.batch * j.out_plane() * kBlock; }

}  // namespace

bool transposed_few_pays(const ConvolutionShape& s) {
  const auto phases = s.stride_y * s.stride_x;
  if (s.groups > 1 || phases == 1 || phases * s.outputs > kBlock) return false;
  const auto j = joined(s);
  // Taps that a phase does not have are multiplied, too: each phase by itself would fill a block of its own.
  return j.taps() <= kMaxTaps && j.taps() < s.taps();
}

i64 transposed_few_filters_size(const ConvolutionShape& s) { return direct_filters_size(joined(s)); }

void transposed_few_pack(const ConvolutionShape& s, const float* filters, float* to, ThreadPool& pool) {
  const auto j = joined(s);
  std::vector<float> wide(j.outputs * j.channels * j.taps());
  for (i64 phase = 0; phase < s.stride_y * s.stride_x; ++phase)
    for (i64 tap = 0; tap < s.taps(); ++tap) {
      const auto y = phase / s.stride_x + s.pad_top - tap / s.kernel_width * s.dilation_y,
                 x = phase % s.stride_x + s.pad_left - tap % s.kernel_width * s.dilation_x;
      if (y % s.stride_y != 0 || x % s.stride_x != 0) continue;
      const auto at = (y / s.stride_y + j.pad_top) * j.kernel_width + x / s.stride_x + j.pad_left;
      for (i64 output = 0; output < s.outputs; ++output)
        for (i64 c = 0; c < s.channels; ++c)
          wide[((phase * s.outputs + output) * s.channels + c) * j.taps() + at] =
              filters[(c * s.outputs + output) * s.taps() + tap];
    }
  direct_pack(j, Weights(wide.data()), to, pool);
}

i64 transposed_few_scratch_size(const ConvolutionShape& s, int threads) {
  const auto j = joined(s);
  return result_size(j) + direct_scratch_size(j, threads);
}

void transposed_few(const ConvolutionShape& s, const float* filters, const float* in, float* out, bool planes,
                    const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (s.out_plane() == 0) return;
  const auto j = joined(s);
  // Of plain rows, what tiles can't do is done at the end: a pixel's block is mostly empty.
  const bool by_rows = planes && !epilogue.is_simple();
  const RepeatedEpilogue repeated(by_rows ? Epilogue{} : epilogue, s.outputs, s.stride_y * s.stride_x);
  direct_convolution(j, filters, in, scratch, repeated.get(), scratch + result_size(j), pool);
  const auto rows = s.batch * s.out_height;
  parallel_ranges(pool, rows, static_cast<double>(s.out_width * s.outputs), [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto image = i / s.out_height, y = i % s.out_height;
      const auto* from = scratch + ((image * j.out_height + y / s.stride_y) * j.out_width) * kBlock +
                         y % s.stride_y * s.stride_x * s.outputs;
      for (i64 o = 0; planes && o < s.outputs; ++o) {
        auto* const row = out + ((image * s.outputs + o) * s.out_height + y) * s.out_width;
        for (i64 phase = 0; phase < s.stride_x; ++phase) {
          const auto* pixel = from + phase * s.outputs + o;
          for (auto x = phase; x < s.out_width; x += s.stride_x, pixel += kBlock) row[x] = *pixel;
        }
        if (by_rows) finish_row(isa(), epilogue, o, 0, row, nullptr, row, s.out_width);
      }
      for (i64 x = 0; !planes && x < s.out_width; ++x) {
        auto* const to = out + (i * s.out_width + x) * kBlock;
        std::copy_n(from + x / s.stride_x * kBlock + x % s.stride_x * s.outputs, s.outputs, to);
        std::fill_n(to + s.outputs, kBlock - s.outputs, 0.0f);
      }
    }
  });
}

}  // namespace ovir::fast
