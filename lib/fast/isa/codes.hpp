// Rows of compressed weights, for the loops that read them.
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/int.hpp"

namespace ovir::fast {

/// What number a code is: an integer, one of 16 levels, or a float.
enum class CodeKind : std::uint8_t { whole, signed_whole, level, f4e2m1, f8e4m3, f8e5m2 };

/// A few rows of codes. Each stands for (number - zero) · scale; zero points and scales belong to groups of codes.
struct CodeRows {
  const unsigned char* codes;
  i64 row;            ///< bytes between rows
  i64 groups, group;  ///< groups in a row, whose codes are a multiple of 32, and codes in a group, of 16
  int bits;           ///< 8, or 4: two to a byte, the first in the low bits
  CodeKind kind;
  const float* levels;        ///< of kinds of 4 bits that are no integers
  const float *zero, *scale;  ///< of the first row and group; zero may be null
  i64 zero_row, zero_group, scale_row, scale_group;

  /// Those that begin at this row.
  CodeRows from(i64 n) const {
    auto rows = *this;
    rows.codes += n * row;
    rows.scale += n * scale_row;
    if (zero) rows.zero += n * zero_row;
    return rows;
  }
};

/// Bytes ahead for which caches are asked while rows of codes are read.
inline constexpr i64 kCodesAhead = 16384;

/// Some rows that rows of codes are multiplied by.
struct LeftRows {
  const float* x;     ///< with codes of 4 bits, what belongs to the first codes of all bytes, then to the second
  const float* sums;  ///< by group, of which zero points are taken off; null: they are taken off each code
  i64 row, sums_row;  ///< floats from one to the next
  i64 count;

  LeftRows from(i64 first, i64 some) const {
    return {x + first * row, sums ? sums + first * sums_row : nullptr, row, sums_row, some};
  }
};

/// f(first, std::integral_constant<int, count>) for rows in fours, which share what they read of the other operand, and
/// for those that are left.
template <class F>
inline void by_fours(i64 rows, F f) {
  i64 r = 0;
  for (; r + 4 <= rows; r += 4) f(r, std::integral_constant<int, 4>());
  switch (rows - r) {
    case 1: return f(r, std::integral_constant<int, 1>());
    case 2: return f(r, std::integral_constant<int, 2>());
    case 3: return f(r, std::integral_constant<int, 3>());
    default: return;
  }
}

/// Codes as bytes: each stands for (byte - middle) · unit.
struct CodeBytes {
  std::uint8_t of_nibble[16];  ///< of codes of 4 bits; signed ones of 8 have their highest bit turned, others stay
  float middle, unit;
};
/// Of kinds that can be written so: not of levels.
constexpr CodeBytes code_bytes(const CodeRows& w) {
  switch (w.kind) {
    case CodeKind::signed_whole:
      return {{8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7}, w.bits == 8 ? 128.0f : 8.0f, 1};
    case CodeKind::f4e2m1: return {{12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0}, 12, 0.5f};
    default: return {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, 0, 1};
  }
}

/// How a row of codes lies in blocks of bytes: a group is several blocks, or a block several groups.
struct CodeBlocks {
  static constexpr i64 kBytes = 64;
  i64 bytes;      ///< of a row
  i64 count;      ///< blocks, the last one perhaps not whole
  i64 per_group;  ///< blocks, at least one
  i64 per_block;  ///< groups, at least one

  explicit constexpr CodeBlocks(const CodeRows& w) {
    const i64 group = w.group * w.bits / 8;
    bytes = w.groups * group;
    count = (bytes + kBytes - 1) / kBytes;
    per_group = w.groups == 1 ? count : group < kBytes ? 1 : group / kBytes;
    per_block = w.groups > 1 && group < kBytes ? kBytes / group : 1;
  }
  /// The group, of those in the block, of a sixteenth of it.
  constexpr i64 group_of(i64 sixteenth) const { return sixteenth * per_block / 16; }
};

/// What rows of codes are multiplied by, as integers: by blocks of codes, x[k] = step · (65536·a + 256·b + c) with
/// digits of −128 … 127, within 2⁻²³ of the block's largest number.
struct Digits {
  static constexpr int kDigits = 3;
  std::int8_t* digits;  ///< by block: a's, b's, c's; with 4 bits each those of the first codes, then of the second
  float *steps, *sums;  ///< by block; by group of the codes, the sum of x

  /// Codes must be small multiples of a number, and groups whole blocks, or blocks whole groups.
  static bool fit(const CodeRows& w) {
    if (w.kind == CodeKind::level || w.kind == CodeKind::f8e4m3 || w.kind == CodeKind::f8e5m2) return false;
    const i64 group = w.group * w.bits / 8;
    return w.groups == 1 || group % CodeBlocks::kBytes == 0 || CodeBlocks::kBytes % group == 0;
  }
  /// Bytes of the digits of a block.
  static i64 block_size(const CodeRows& w) { return kDigits * CodeBlocks::kBytes * (w.bits == 4 ? 2 : 1); }
};

}  // namespace ovir::fast
