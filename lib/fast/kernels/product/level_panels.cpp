#include "fast/kernels/product/level_panels.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "fast/isa/narrow.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/product/narrow.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kLines = 32;            // words of a row at a time
constexpr i64 kBytes = 4 * kLines;    // the levels that these are
constexpr Word kSigned = 0x80808080;  // makes i8 of u8: level - 128
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::uint8_t* bytes(Word* p) { return reinterpret_cast<std::uint8_t*>(p); }

/// Rows of n levels from rows whose numbers lie side by side, `apart` bytes apart.
void to_levels(const LevelRows& view, i64 n, i64 rows, const LevelLine& levels, std::uint8_t* to, i64 apart) {
  if (view.levels)
    for (i64 i = 0; i < rows; ++i) std::copy_n(view.levels + i * view.row, n, to + i * apart);
  else narrow_isa().rows_to_u8(view.wide, view.row, levels.by, levels.plus, levels.max_level, to, apart, rows, n);
}

/// Columns [first, first + n) of so many rows, at most kColumns, side by side: where they lie, or in `room`.
LevelRows side_by_side(const LevelRows& view, i64 first, i64 n, i64 rows, float* room) {
  auto from = view;
  if (view.levels) from.levels += first * view.column;
  else from.wide += first * view.column;
  if (view.column == 1) return from;
  for (i64 i = 0; i < rows; ++i)
    for (i64 c = 0; c < n; ++c) room[i * kBytes + c] = from.wide[i * view.row + c * view.column];
  return {.wide = room, .row = kBytes};
}

/// Makes i8 of the levels of a panel of so many words a column.
void make_signed(Word* panel, i64 words) {
  for (i64 i = 0; i < words * kColumns; ++i) panel[i] ^= kSigned;
}

/// What offsets add to sums of k products: that of the left operand times the sum of a column, both times each other.
void put_shifts(Word* panel, i64 k, float left, float right) {
  const auto words = u8_words(k);
  auto* shifts = reinterpret_cast<float*>(panel + words * kColumns);
  std::fill_n(shifts, kColumns, 0.0F);
  if (left == 0) return;
  alignas(64) float scale[kColumns], shift[kColumns];
  std::fill_n(scale, kColumns, left);
  for (i64 first = 0; first < words; first += kLines) {
    alignas(64) Word ones[kLines];
    const auto now = std::min(kLines, words - first), count = std::min(4 * now, k - 4 * first);
    std::memset(ones, 0, sizeof(ones));
    std::memset(ones, 1, static_cast<std::size_t>(count));
    std::fill_n(shift, kColumns, left * right * static_cast<float>(count));
    for (i64 c = 0; c < kColumns; ++c) shift[c] += shifts[c];
    narrow_isa().u8({.sum = sum_of_rows(ones, kLines, now, panel + first * kColumns),
                     .scale = scale,
                     .shift = shift,
                     .low = -kInfinity,
                     .high = kInfinity,
                     .wide = shifts,
                     .out_pixel = kColumns,
                     .out_block = kBlock},
                    1);
  }
}

}  // namespace

void pack_level_columns(const LevelRows& view, i64 depth, i64 count, const LevelLine& levels, const LevelLine& left,
                        Word* to) {
  const auto words = u8_words(depth), size = level_panel_size(depth);
  if (view.wide && view.row == 1 && view.column != 1) {
    auto rows = view;
    rows.row = view.column;
    return pack_level_rows(rows, depth, count, levels, left, to);
  }
  for (i64 j = 0; j < count; j += kColumns, to += size) {
    const auto valid = std::min(kColumns, count - j);
    if (valid < kColumns) std::fill_n(to, words * kColumns, Word{0});
    for (i64 w = 0; w < words; w += kLines) {
      alignas(64) Word lines[kColumns * kLines];
      alignas(64) float room[kColumns * kBytes];
      const auto now = std::min(kLines, words - w), n = std::min(4 * now, depth - 4 * w);
      if (n % 4 != 0)
        for (i64 c = 0; c < valid; ++c) lines[(c + 1) * now - 1] = 0;
      to_levels(side_by_side(view.from(j), 4 * w, n, valid, room), n, valid, levels, bytes(lines), 4 * now);
      isa().transpose(reinterpret_cast<const float*>(lines), now, reinterpret_cast<float*>(to + w * kColumns), kColumns,
                      valid, now);
    }
    make_signed(to, words);
    put_shifts(to, depth, left.offset, levels.offset + 128);
  }
}

void pack_level_rows(const LevelRows& view, i64 rows, i64 columns, const LevelLine& levels, const LevelLine& left,
                     Word* to) {
  const auto words = u8_words(rows);
  const float by[] = {levels.by, levels.by, levels.by, levels.by},
              plus[] = {levels.plus, levels.plus, levels.plus, levels.plus};
  for (i64 j = 0; j < columns; j += kColumns, to += level_panel_size(rows)) {
    const auto valid = std::min(kColumns, columns - j);
    for (i64 w = 0; w < words; ++w) {
      const auto from = view.from(4 * w);
      const auto now = std::min<i64>(4, rows - 4 * w);
      auto* line = to + w * kColumns;
      if (valid < kColumns) std::fill_n(line, kColumns, Word{0});
      if (view.levels) {
        std::uint8_t four[4][kColumns] = {};
        for (i64 i = 0; i < now; ++i) std::copy_n(from.levels + i * view.row + j, valid, four[i]);
        for (i64 c = 0; c < kColumns; ++c)
          line[c] = Word{four[0][c]} | Word{four[1][c]} << 8 | Word{four[2][c]} << 16 | Word{four[3][c]} << 24;
        continue;
      }
      const float* x[4] = {};
      for (i64 i = 0; i < now; ++i) x[i] = from.wide + i * view.row + j;
      narrow_isa().pixels_to_u8(x, static_cast<int>(now), by, plus, levels.max_level, valid, line, 1);
    }
    make_signed(to, words);
    put_shifts(to, rows, left.offset, levels.offset + 128);
  }
}

void rows_to_levels(const LevelRows& view, i64 n, i64 rows, const LevelLine& levels, Word* to) {
  const auto words = u8_words(n);
  for (i64 i = 0; n % 4 != 0 && i < rows; ++i) to[(i + 1) * words - 1] = 0;
  to_levels(view, n, rows, levels, bytes(to), 4 * words);
}

void add_up_levels(const Word* rows, i64 row, i64 n, i64 count, float by, float* to) {
  for (i64 i = 0; i < count; ++i) {
    const auto* levels = reinterpret_cast<const std::uint8_t*>(rows + i * row);
    std::int32_t sum = 0;
    for (i64 j = 0; j < n; ++j) sum += levels[j];
    to[i] = by * static_cast<float>(sum);
  }
}

void multiply_levels(const LevelProduct& p, i64 count) {
  const auto words = u8_words(p.k);
  alignas(64) float scale[kColumns], scaled[kColumns];
  std::fill_n(scale, kColumns, p.scale);
  for (i64 j = 0; j < p.n; j += kColumns) {
    const auto* panel = p.panels + j / kColumns * level_panel_size(p.k);
    const auto* shift = reinterpret_cast<const float*>(panel + words * kColumns);
    if (p.scale != 1) {
      for (i64 c = 0; c < kColumns; ++c) scaled[c] = p.scale * shift[c];
      shift = scaled;
    }
    narrow_isa().u8({.sum = sum_of_rows(p.rows, p.row, u8_words(p.steps), panel + p.first / 4 * kColumns),
                     .scale = scale,
                     .shift = shift,
                     .low = -kInfinity,
                     .high = kInfinity,
                     .wide = p.out + j,
                     .out_pixel = p.out_row,
                     .out_block = kBlock},
                    static_cast<int>(count));
  }
  for (i64 i = 0; p.added && i < count; ++i) {
    const auto more = p.scale * p.added[i];
    isa().binary(Binary::add, p.out + i * p.out_row, 1, &more, 0, p.out + i * p.out_row, p.n);
  }
}

}  // namespace ovir::fast
