#include "fast/kernels/convolution/transposed_bf16.hpp"

#include <algorithm>

namespace ovir::fast {
namespace {

/// The taps one after the other as outputs of a pointwise convolution, those of each in panels of their own.
NarrowGeometry geometry_of(const ConvolutionShape& s) {
  auto all = s;
  all.outputs = s.taps() * round_up(s.outputs, kColumns);
  all.out_height = s.height;
  all.out_width = s.width;
  all.kernel_height = all.kernel_width = all.stride_y = all.stride_x = all.dilation_y = all.dilation_x = 1;
  return {all, 2};
}

}  // namespace

i64 bf16_transposed_filters_size(const ConvolutionShape& s) { return geometry_of(s).filters_size(); }

void bf16_transposed_pack(const ConvolutionShape& s, const float* filters, Word* to, ThreadPool& pool) {
  const auto g = geometry_of(s);
  const auto taps = s.taps(), panels = ceil_div(s.outputs, kColumns);
  parallel_ranges(pool, g.panels(), static_cast<double>(s.channels * kColumns), [&](i64 begin, i64 end) {
    Buffer rows(kColumns * s.channels);  // [output][channel]
    for (auto panel = begin; panel < end; ++panel) {
      const auto tap = panel / panels, first = panel % panels * kColumns;
      std::fill_n(rows.data(), kColumns * s.channels, 0.0f);
      for (i64 o = 0; o < std::min(kColumns, s.outputs - first); ++o)
        for (i64 c = 0; c < s.channels; ++c)
          rows.data()[o * s.channels + c] = filters[(c * s.outputs + first + o) * taps + tap];
      bf16_pack_panel(g, panel, rows.data(), to + panel * g.panel_size());
    }
  });
}

void bf16_transposed_convolution(const ConvolutionShape& s, const Word* filters, const Word* in, const Bf16Blocked& out,
                                 const Bf16Blocked& residual, const Epilogue& e, ThreadPool& pool) {
  const auto g = geometry_of(s);
  const auto panels = ceil_div(s.outputs, kColumns);
  const auto tile = [&](const NarrowSum& sum, int pixels, i64 column_panel, i64 image, i64 pixel) {
    const auto tap = column_panel / panels, panel = column_panel % panels, column = panel * kColumns;
    auto part = sum;
    // Pixels of a row at a time: the next row lies several rows behind.
    for (i64 left = pixels; left > 0;) {
      const auto y = pixel / s.width, x = pixel % s.width, now = std::min(left, s.width - x);
      const auto at = (y * s.stride_y + tap / s.kernel_width) * s.out_width + x * s.stride_x + tap % s.kernel_width;
      const auto apart = [&](const Bf16Blocked& of) {
        auto place = bf16_place(s, of, panel, image, at);
        place.pixel *= s.stride_x;
        return place;
      };
      bf16_tile(part, static_cast<int>(now), column, std::min(kColumns, s.outputs - column), true, e, apart(residual),
                apart(out));
      part.in += now * part.pixel;
      pixel += now;
      left -= now;
    }
  };
  narrow_convolution(g, {filters}, in, 0, nullptr, pool, std::cref(tile));
}

}  // namespace ovir::fast
