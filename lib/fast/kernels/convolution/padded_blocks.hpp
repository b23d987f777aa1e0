// Rows of blocked planes, of 16 words a pixel, with their padding.
#pragma once
#include <algorithm>

#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

/// Columns of a row that are the same modulo `stride` lie together, those of remainder 0 first: what neighboring
/// outputs of a convolution with strides read at a tap lies side by side, which is how tiles are loaded fastest.
struct ColumnPhases {
  i64 width = 0;              ///< of each of them
  i64 stride = 1, count = 1;  ///< as many remainders are there: others are not read

  i64 place(i64 column) const { return column % stride * width + column / stride; }
};

/// Rows or columns that are read: those of the padded input.
inline i64 reach(i64 size, i64 pad, i64 out, i64 stride, i64 kernel, i64 dilation) {
  return std::max(size + pad, (out - 1) * stride + (kernel - 1) * dilation + 1);
}

/// Columns of a padded row that lie together: `left` and `right` of the input, and those of it, from `begin` on.
struct PaddedColumns {
  i64 left, begin, inside, right;

  PaddedColumns(const ConvolutionShape& s, const ColumnPhases& phases, i64 phase) {
    left = std::min(phases.width, ceil_div(std::max<i64>(s.pad_left - phase, 0), phases.stride));
    begin = phase + phases.stride * left - s.pad_left;
    inside = std::min(phases.width - left, ceil_div(std::max<i64>(s.width - begin, 0), phases.stride));
    right = phases.width - left - inside;
  }
};

/// Gives the place behind the last of the pixels.
template <class Word>
Word* fill_pixels(Word* to, i64 pixels, const Word* with) {
  for (i64 i = 0; i < pixels; ++i) to = std::copy_n(with, kBlock, to);
  return to;
}

/// Rows [first, first + rows) of the input of blocks [begin, end), padded with the pixel `pad`.
template <class Word>
void copy_padded(const ConvolutionShape& s, const ColumnPhases& phases, const Word* in, const Word* pad, i64 begin,
                 i64 end, i64 first, i64 rows, Word* to) {
  for (auto b = begin; b < end; ++b)
    for (i64 r = 0; r < rows; ++r) {
      const auto y = first + r - s.pad_top;
      if (y < 0 || y >= s.height) {
        to = fill_pixels(to, phases.count * phases.width, pad);
        continue;
      }
      for (i64 phase = 0; phase < phases.count; ++phase) {
        const PaddedColumns columns(s, phases, phase);
        const auto* from = in + ((b * s.height + y) * s.width + columns.begin) * kBlock;
        to = fill_pixels(to, columns.left, pad);
        if (phases.stride == 1) to = std::copy_n(from, columns.inside * kBlock, to);
        else
          for (i64 x = 0; x < columns.inside; ++x, from += phases.stride * kBlock) to = std::copy_n(from, kBlock, to);
        to = fill_pixels(to, columns.right, pad);
      }
    }
}

}  // namespace ovir::fast
