// Rows of compressed weights, for the loops that read them.
#pragma once
#include "base/int.hpp"

namespace ovir::fast {

/// A few rows of codes. Each stands for (code - zero) · scale; zero points and scales belong to groups of codes.
struct CodeRows {
  const unsigned char* codes;
  i64 row;            ///< bytes between rows
  i64 groups, group;  ///< groups in a row, codes in a group: a multiple of 32
  int bits;           ///< 8, or 4: two to a byte, the first in the low bits
  bool is_signed;
  const float *zero, *scale;  ///< of the first row and group; zero may be null
  i64 zero_row, zero_group, scale_row, scale_group;
};

}  // namespace ovir::fast
