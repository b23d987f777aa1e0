#include "fast/kernels/movement/permute.hpp"

#include <array>
#include <cstring>
#include <type_traits>

#include "fast/isa/lines.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/movement/strided.hpp"

namespace ovir::fast {
namespace {

constexpr std::size_t kMaxDims = 8;

/// Output dims with the strides that they have in the input; neighbors that stay neighbors are one, ones are gone.
struct Merged {
  std::array<i64, kMaxDims> dims{}, from{}, to{};
  std::size_t rank = 0;

  Merged(std::span<const i64> dims_in, std::span<const i64> order) {
    std::array<i64, kMaxDims> strides{};
    i64 stride = 1;
    for (auto d = dims_in.size(); d-- > 0; stride *= dims_in[d]) strides[d] = stride;
    for (const auto d : order) {
      if (dims_in[d] == 1) continue;
      if (rank && from[rank - 1] == strides[d] * dims_in[d]) {
        dims[rank - 1] *= dims_in[d];
        from[rank - 1] = strides[d];
      } else {
        dims[rank] = dims_in[d];
        from[rank++] = strides[d];
      }
    }
    if (rank == 0) {
      dims[0] = from[0] = 1;
      rank = 1;
    }
    stride = 1;
    for (auto d = rank; d-- > 0; stride *= dims[d]) to[d] = stride;
  }
  i64 count() const {
    i64 n = 1;
    for (std::size_t d = 0; d < rank; ++d) n *= dims[d];
    return n;
  }
  /// The axis that lies together in the input, or the closest to that where the last one does.
  std::size_t row() const {
    std::size_t row = 0;
    for (std::size_t d = 1; d + 1 < rank; ++d)
      if (from[d] < from[row]) row = d;
    return row;
  }
};

/// Of a few numbers: a call would take longer.
inline void copy_run(const float* x, float* y, i64 n) {
  constexpr i64 kWide = 16, kNarrow = 4, kLong = 256;
  const auto by = [&](auto width) {
    for (i64 i = 0; i + width <= n; i += width) std::memcpy(y + i, x + i, sizeof(float) * width);
    std::memcpy(y + n - width, x + n - width, sizeof(float) * width);
  };
  if (n > kLong) std::copy_n(x, n, y);
  else if (n >= kWide) by(std::integral_constant<i64, kWide>());
  else if (n >= kNarrow) by(std::integral_constant<i64, kNarrow>());
  else
    for (i64 i = 0; i < n; ++i) y[i] = x[i];
}

/// Where index i of the axes before the last one, but for those left out, begins in the input and in the output.
class Places {
 public:
  i64 from = 0, to = 0;

  Places(const Merged& m, i64 i, std::size_t without, std::size_t nor) : m_(m) {
    for (auto d = m.rank - 1; d-- > 0;) {
      if (d == without || d == nor) continue;
      const auto& axis = axes_[count_++] = {d, i % m.dims[d]};
      from += axis.index * m.from[d];
      to += axis.index * m.to[d];
      i /= m.dims[d];
    }
  }
  /// Goes on to index i + 1.
  void next() {
    for (std::size_t a = 0; a < count_; ++a) {
      auto& [d, index] = axes_[a];
      from += m_.from[d];
      to += m_.to[d];
      if (++index < m_.dims[d]) return;
      index = 0;
      from -= m_.dims[d] * m_.from[d];
      to -= m_.dims[d] * m_.to[d];
    }
  }

 private:
  struct Axis {
    std::size_t axis;
    i64 index;
  };
  const Merged& m_;
  std::array<Axis, kMaxDims> axes_;
  std::size_t count_ = 0;
};

/// Runs that stay together, `near` being the axis whose neighbors are the closest in the input: some of them by some of
/// the axis that is the closest in the output, so that lines are read and written as a whole while they are in the
/// cache.
void copy_runs(const Merged& m, i64 count, std::size_t near, const float* x, float* y, ThreadPool& pool) {
  constexpr i64 kFloats = 4 << 10, kLines = 8;
  const auto last = m.rank - 1, across = last - 1;
  const auto run = m.dims[last], nears = m.dims[near], lines = near == across ? 1 : m.dims[across];
  const auto rows = std::clamp<i64>(kFloats / (run * std::min(lines, kLines)), 1, nears),
             columns = std::clamp<i64>(kFloats / (run * rows), 1, lines);
  const auto row_parts = ceil_div(nears, rows), parts = row_parts * ceil_div(lines, columns);
  const auto cost = static_cast<double>(rows * columns) * (static_cast<double>(run) / 8 + 1) + 5;
  parallel_ranges(pool, count / (run * nears * lines) * parts, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const Places at(m, i / parts, near, across);
      const auto row = i % row_parts * rows, column = i % parts / row_parts * columns;
      const auto* from = x + at.from + row * m.from[near] + column * m.from[across];
      auto* to = y + at.to + row * m.to[near] + column * m.to[across];
      for (i64 r = 0; r < std::min(rows, nears - row); ++r)
        for (i64 c = 0; c < std::min(columns, lines - column); ++c)
          copy_run(from + r * m.from[near] + c * m.from[across], to + r * m.to[near] + c * m.to[across], run);
    }
  });
}

/// Where few numbers lie together, as the channels of a pixel: `few` lines, each of as many as there are pixels, become
/// pixels (`joins`) or are made of them. `pixels` is the axis of these, `other` that of the few. T: float or bytes.
template <class T>
void copy_pixels(const Merged& m, i64 count, bool joins, std::size_t pixels, std::size_t other, const T* x, T* y,
                 ThreadPool& pool) {
  constexpr i64 kPart = 4 << 10;
  const auto& table = line_isa();
  const auto few = m.dims[other], line = joins ? m.from[other] : m.to[other];
  const auto all = m.dims[pixels], parts = ceil_div(all, kPart);
  const auto cost = static_cast<double>(std::min(all, kPart) * few) / 8 + 5;
  parallel_ranges(pool, count / (all * few) * parts, cost, [&](i64 begin, i64 end) {
    Places at(m, begin / parts, pixels, other);
    for (auto i = begin; i < end; ++i) {
      if (i > begin && i % parts == 0) at.next();
      const auto first = i % parts * kPart, n = std::min(all - first, kPart);
      const auto* from = x + at.from + first * (joins ? 1 : few);
      auto* to = y + at.to + first * (joins ? few : 1);
      const auto width = static_cast<int>(few);
      if constexpr (std::is_same_v<T, float>)
        joins ? table.join(width, from, line, to, n) : table.split(width, from, to, line, n);
      else joins ? table.join_bytes(width, from, line, to, n) : table.split_bytes(width, from, to, line, n);
    }
  });
}

/// The same where the axes suit it; false otherwise.
template <class T>
bool copy_pixels(const Merged& m, const T* x, T* y, ThreadPool& pool) {
  const auto last = m.rank - 1, row = m.row();
  const auto count = m.count();
  const auto is_few = [](i64 n) { return 2 <= n && n <= 4; };
  const bool splits = is_few(m.dims[row]) && m.from[row] == 1 && m.from[last] == m.dims[row];
  const bool joins = is_few(m.dims[last]) && m.from[row] == 1 && m.to[row] == m.dims[last];
  if (splits) copy_pixels(m, count, false, last, row, x, y, pool);
  else if (joins) copy_pixels(m, count, true, row, last, x, y, pool);
  return splits || joins;
}

}  // namespace

bool permute_pixels(std::span<const i64> dims, std::span<const i64> order, const std::uint8_t* x, std::uint8_t* y,
                    ThreadPool& pool) {
  const Merged m(dims, order);
  return m.rank > 1 && m.count() > 0 && copy_pixels(m, x, y, pool);
}

void permute(std::span<const i64> dims, std::span<const i64> order, const float* x, float* y, ThreadPool& pool) {
  const auto& table = isa();
  const Merged m(dims, order);
  const auto count = m.count();
  if (count == 0) return;
  const auto last = m.rank - 1;
  if (last == 0)
    return parallel_ranges(pool, count, 1.0 / 8, [&](i64 begin, i64 end) { std::copy(x + begin, x + end, y + begin); });
  const auto row = m.row();
  if (m.from[last] == 1) return copy_runs(m, count, row, x, y, pool);
  constexpr i64 kFew = 4;  // which lie together, as channels of images
  if (copy_pixels(m, x, y, pool)) return;
  if (m.dims[row] <= kFew || m.dims[last] <= kFew) {
    StridedAxes axes;
    for (std::size_t d = 0; d < m.rank; ++d) axes.add(m.dims[d], m.from[d]);
    return copy_strided(axes, sizeof(float), reinterpret_cast<const std::byte*>(x), reinterpret_cast<std::byte*>(y),
                        pool);
  }
  // It and the last one are transposed by one call.
  constexpr i64 kRows = 64, kColumns = 4 << 10;  // at a time
  const auto rows = m.dims[row], parts = ceil_div(rows, kRows), all_columns = m.dims[last],
             columns = std::min(all_columns, kColumns), column_parts = ceil_div(all_columns, columns);
  const auto cost = static_cast<double>(std::min(rows, kRows) * columns) / 3 + 5;
  parallel_ranges(pool, count / (rows * all_columns) * parts * column_parts, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const Places at(m, i / (parts * column_parts), row, row);
      const auto first = i / column_parts % parts * kRows, here = std::min(kRows, rows - first);
      const auto column = i % column_parts * columns;
      table.transpose(x + at.from + first + column * m.from[last], m.from[last], y + at.to + first * m.to[row] + column,
                      m.to[row], std::min(columns, all_columns - column), here);
    }
  });
}

}  // namespace ovir::fast
