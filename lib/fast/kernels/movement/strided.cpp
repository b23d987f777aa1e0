#include "fast/kernels/movement/strided.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

using Axis = StridedAxes::Axis;

template <i64 value>
using Constant = std::integral_constant<i64, value>;

/// Of a few bytes: a call would take longer.
template <class Word>
void copy_ends(const std::byte* x, std::byte* y, i64 bytes) {
  constexpr i64 kWord = sizeof(Word);
  for (i64 i = 0; i + kWord <= bytes; i += kWord) std::memcpy(y + i, x + i, kWord);
  std::memcpy(y + bytes - kWord, x + bytes - kWord, kWord);
}
void copy_run(const std::byte* x, std::byte* y, i64 bytes) {
  struct Wide {
    std::uint64_t words[2];
  };
  if (bytes > 256) std::memcpy(y, x, bytes);
  else if (bytes >= 16) copy_ends<Wide>(x, y, bytes);
  else if (bytes >= 8) copy_ends<std::uint64_t>(x, y, bytes);
  else if (bytes >= 4) copy_ends<std::uint32_t>(x, y, bytes);
  else
    for (i64 i = 0; i < bytes; ++i) y[i] = x[i];
}

/// Where index `i` of the axes but for two begins in the input and in the output.
struct Places {
  i64 from = 0, to = 0;
  Places(const StridedAxes& axes, i64 i, i64 without, i64 nor) {
    i64 stride = 1;
    for (auto d = axes.rank; d-- > 0; stride *= axes.list[d].length) {
      if (d == without || d == nor) continue;
      const auto at = i % axes.list[d].length;
      from += at * axes.list[d].stride;
      to += at * stride;
      i /= axes.list[d].length;
    }
  }
};

/// Rows along the last axis: `rows` of them, `row_stride` apart in the input.
template <class Word>
void copy_rows(const Word* x, i64 rows, i64 row_stride, Axis last, Word* y) {
  const auto each = [&](auto stride) {
    for (i64 r = 0; r < rows; ++r, x += row_stride, y += last.length)
      for (i64 i = 0; i < last.length; ++i) y[i] = x[i * stride];
  };
  if (last.stride == 1)
    for (i64 r = 0; r < rows; ++r, x += row_stride, y += last.length)
      copy_run(reinterpret_cast<const std::byte*>(x), reinterpret_cast<std::byte*>(y), last.length * i64{sizeof(Word)});
  else if (last.stride == 0)
    for (i64 r = 0; r < rows; ++r, x += row_stride, y += last.length) std::fill_n(y, last.length, *x);
  else if (last.stride == -1) each(Constant<-1>());
  else if (last.stride == 2) each(Constant<2>());
  else each(last.stride);
}

template <class Word>
void copy_by_rows(const StridedAxes& axes, const Word* x, Word* y, ThreadPool& pool) {
  constexpr i64 kPiece = (32 << 10) / sizeof(Word);  // long rows are shared out, too
  const auto last = axes.list[axes.rank - 1],
             across = axes.rank > 1 ? axes.list[axes.rank - 2] : Axis{.length = 1, .stride = 0};
  i64 rows = 1;
  for (i64 d = 0; d + 1 < axes.rank; ++d) rows *= axes.list[d].length;
  const auto pieces = ceil_div(last.length, kPiece), piece = std::min(last.length, kPiece);
  const auto nanoseconds = last.stride == 1 || last.stride == 0 ? static_cast<double>(sizeof(Word)) / 8 : 0.7;
  parallel_ranges(pool, rows * pieces, 2 + nanoseconds * static_cast<double>(piece), [&](i64 begin, i64 end) {
    for (auto i = begin; i < end;) {
      const auto row = i / pieces, at = row % across.length;
      const Places place(axes, row / across.length, axes.rank - 1, axes.rank - 2);
      const auto* from = x + place.from + at * across.stride;
      auto* to = y + place.to + at * last.length;
      if (pieces > 1) {
        const auto first = i % pieces * piece;
        copy_rows(from + first * last.stride, 1, 0, {std::min(piece, last.length - first), last.stride}, to + first);
        ++i;
        continue;
      }
      const auto some = std::min(end - i, across.length - at);
      copy_rows(from, some, across.stride, last, to);
      i += some;
    }
  });
}

/// y[r·to + c] = x[c·from + r].
template <class Word>
void transpose(const Word* x, i64 from, Word* y, i64 to, i64 rows, i64 columns) {
  // A few of one side lie together: all of them at once.
  const auto deinterleave = [&](auto count) {
    for (i64 c = 0; c < columns; ++c)
      for (i64 r = 0; r < count; ++r) y[r * to + c] = x[c * count + r];
  };
  const auto interleave = [&](auto count) {
    for (i64 r = 0; r < rows; ++r)
      for (i64 c = 0; c < count; ++c) y[r * count + c] = x[c * from + r];
  };
  if (from == rows && rows == 2) return deinterleave(Constant<2>());
  if (from == rows && rows == 3) return deinterleave(Constant<3>());
  if (from == rows && rows == 4) return deinterleave(Constant<4>());
  if (to == columns && columns == 2) return interleave(Constant<2>());
  if (to == columns && columns == 3) return interleave(Constant<3>());
  if (to == columns && columns == 4) return interleave(Constant<4>());
  if constexpr (sizeof(Word) == sizeof(float)) {
    isa().transpose(reinterpret_cast<const float*>(x), from, reinterpret_cast<float*>(y), to, columns, rows);
  } else {
    constexpr i64 kRows = 64 / sizeof(Word), kColumns = 64;  // lines that stay in the cache until all of them is read
    for (i64 c0 = 0; c0 < columns; c0 += kColumns)
      for (i64 r0 = 0; r0 < rows; r0 += kRows)
        for (auto r = r0; r < std::min(rows, r0 + kRows); ++r)
          for (auto c = c0; c < std::min(columns, c0 + kColumns); ++c) y[r * to + c] = x[c * from + r];
  }
}

/// Axis `near` lies together in the input.
template <class Word>
void copy_transposed(const StridedAxes& axes, i64 near, const Word* x, Word* y, ThreadPool& pool) {
  constexpr i64 kColumns = 1024, kWords = (64 << 10) / sizeof(Word);
  const auto last = axes.list[axes.rank - 1];
  const auto all_rows = axes.list[near].length;
  i64 to = 1, outer = 1;
  for (i64 d = 0; d + 1 < axes.rank; ++d) {
    if (d > near) to *= axes.list[d].length;
    if (d != near) outer *= axes.list[d].length;
  }
  to *= last.length;
  const auto columns = std::min(kColumns, last.length), column_parts = ceil_div(last.length, columns);
  const auto rows = std::clamp<i64>(kWords / columns, 1, all_rows), row_parts = ceil_div(all_rows, rows);
  constexpr double kNanoseconds = 0.5;
  const auto cost = 5 + kNanoseconds * static_cast<double>(rows * columns);
  parallel_ranges(pool, outer * row_parts * column_parts, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const Places at(axes, i / (row_parts * column_parts), near, axes.rank - 1);
      const auto row = i / column_parts % row_parts * rows, column = i % column_parts * columns;
      transpose(x + at.from + row + column * last.stride, last.stride, y + at.to + row * to + column, to,
                std::min(rows, all_rows - row), std::min(columns, last.length - column));
    }
  });
}

/// Numbers of both sides that are worth transposing at a time; fewer are copied row by row.
constexpr i64 kFewest = 32;

template <class Word>
void copy_words(const StridedAxes& axes, const std::byte* from, std::byte* to, ThreadPool& pool) {
  const auto* x = reinterpret_cast<const Word*>(from) + axes.first;
  auto* y = reinterpret_cast<Word*>(to);
  const auto last = axes.rank - 1;
  if (const auto stride = axes.list[last].stride; stride > 1)
    for (i64 d = 0; d < last; ++d)
      if (axes.list[d].stride == 1 && axes.list[d].length * axes.list[last].length >= kFewest)
        return copy_transposed(axes, d, x, y, pool);
  copy_by_rows(axes, x, y, pool);
}

}  // namespace

bool StridedAxes::add(i64 length, i64 stride) {
  if (length == 1 && rank > 0) return true;
  if (rank > 0) {
    auto& before = list[rank - 1];
    if (before.length == 1) {
      before = {length, stride};
      return true;
    }
    if (before.stride == stride * length) {
      before = {before.length * length, stride};
      return true;
    }
  }
  if (rank == kMaxStridedAxes) return false;
  list[rank++] = {length, stride};
  return true;
}

void copy_strided(const StridedAxes& axes, int width, const std::byte* from, std::byte* to, ThreadPool& pool) {
  switch (width) {
    case 1: return copy_words<std::uint8_t>(axes, from, to, pool);
    case 2: return copy_words<std::uint16_t>(axes, from, to, pool);
    case 4: return copy_words<std::uint32_t>(axes, from, to, pool);
    default: return copy_words<std::uint64_t>(axes, from, to, pool);
  }
}

}  // namespace ovir::fast
