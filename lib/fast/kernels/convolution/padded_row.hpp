// Rows of plain planes with zeros beside them.
#pragma once
#include <algorithm>

#include "fast/isa/tile.hpp"

namespace ovir::fast {

/// `count` columns from `first` on of a row of the input, `stride` apart, beside which lie zeros.
inline void copy_padded_row(const float* row, i64 length, i64 first, i64 stride, i64 count, float* to) {
  const auto left = std::clamp<i64>(ceil_div(std::max<i64>(-first, 0), stride), 0, count);
  const auto end = first < length ? std::clamp<i64>(ceil_div(length - first, stride), left, count) : left;
  std::fill_n(to, left, 0.0F);
  if (left < end) {
    const auto* from = row + first + left * stride;
    if (stride == 1) std::copy_n(from, end - left, to + left);
    else if (stride == 2)  // known to the compiler
      for (i64 i = 0; i < end - left; ++i) to[left + i] = from[i * 2];
    else
      for (i64 i = 0; i < end - left; ++i) to[left + i] = from[i * stride];
  }
  std::fill(to + end, to + count, 0.0F);
}

}  // namespace ovir::fast
