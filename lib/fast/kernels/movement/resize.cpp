#include "fast/kernels/movement/resize.hpp"

#include <array>
#include <utility>

#include "fast/kernels/chunks.hpp"
#include "tensor/view.hpp"

namespace ovir::fast {
namespace {

template <i64 kLanes>
void nearest_row(std::span<const AxisSource> columns, const float* from, float* to) {
  for (const auto& c : columns) {
    std::copy_n(from + c.first * kLanes, kLanes, to);
    to += kLanes;
  }
}

template <i64 kLanes>
void linear_row(std::span<const AxisSource> columns, const float* from, float* to) {
  for (const auto& c : columns) {
    const auto *a = from + c.first * kLanes, *b = from + c.second * kLanes;
    for (i64 k = 0; k < kLanes; ++k) to[k] = (1 - c.weight) * a[k] + c.weight * b[k];
    to += kLanes;
  }
}

template <i64 kLanes>
void linear_row(std::span<const AxisSource> columns, const float* upper, const float* lower, float weight, float* to) {
  for (const auto& c : columns) {
    const auto *a = upper + c.first * kLanes, *b = upper + c.second * kLanes, *d = lower + c.first * kLanes,
               *e = lower + c.second * kLanes;
    for (i64 k = 0; k < kLanes; ++k) {
      const auto top = (1 - c.weight) * a[k] + c.weight * b[k], bottom = (1 - c.weight) * d[k] + c.weight * e[k];
      to[k] = (1 - weight) * top + weight * bottom;
    }
    to += kLanes;
  }
}

/// Whether several output rows read an input row, so that widening it beforehand pays.
bool widens(const Resizing& what) { return !what.nearest && std::ssize(what.rows) > what.height; }

/// Input rows as wide as the output, the two that were wanted last.
template <i64 kLanes>
class WideRows {
 public:
  WideRows(const Resizing& what, const float* in, float* room) : what_(what), in_(in) {
    for (auto& row : rows_) row.data = std::exchange(room, room + std::ssize(what.columns) * kLanes);
  }
  /// Row i of all planes; that of `keep` stays.
  const float* get(i64 i, i64 keep) {
    for (const auto& row : rows_)
      if (row.index == i) return row.data;
    auto& row = rows_[rows_[0].index == keep];
    row.index = i;
    linear_row<kLanes>(what_.columns, in_ + i * what_.width * kLanes, row.data);
    return row.data;
  }

 private:
  struct Row {
    float* data = nullptr;
    i64 index = -1;
  };
  const Resizing& what_;
  const float* in_;
  std::array<Row, 2> rows_;
};

void blend(const float* a, const float* b, float weight, float* to, i64 n) {
  for (i64 i = 0; i < n; ++i) to[i] = (1 - weight) * a[i] + weight * b[i];
}

template <i64 kLanes>
void resize_planes(const Resizing& what, const float* in, float* out, float* scratch, ThreadPool& pool) {
  const auto height = std::ssize(what.rows), width = std::ssize(what.columns) * kLanes;
  const auto cost = static_cast<double>(std::ssize(what.columns)) * (what.nearest ? 2 : 6);
  const auto each_row = [&](i64 begin, i64 end, const auto& work) {
    for (auto i = begin; i < end; ++i) {
      const auto& y = what.rows[static_cast<std::size_t>(i % height)];
      work(i / height * what.height, y, out + i * width);
    }
  };
  if (what.nearest)
    return parallel_ranges(pool, what.planes * height, cost, [&](i64 begin, i64 end) {
      const float *last = nullptr, *from = nullptr;
      each_row(begin, end, [&](i64 plane, const AxisSource& y, float* to) {
        const auto* row = in + (plane + y.first) * what.width * kLanes;
        if (std::exchange(from, row) == row) std::copy_n(last, width, to);
        else nearest_row<kLanes>(what.columns, row, to);
        last = to;
      });
    });
  if (!widens(what))
    return parallel_ranges(pool, what.planes * height, cost, [&](i64 begin, i64 end) {
      each_row(begin, end, [&](i64 plane, const AxisSource& y, float* to) {
        const auto *upper = in + (plane + y.first) * what.width * kLanes,
                   *lower = in + (plane + y.second) * what.width * kLanes;
        linear_row<kLanes>(what.columns, upper, lower, y.weight, to);
      });
    });
  Slots slots(scratch, 2 * width, slots_for(pool));
  parallel_ranges(pool, what.planes * height, cost, [&](i64 begin, i64 end) {
    const Slots::Lease room(slots);
    WideRows<kLanes> wide(what, in, room.data());
    each_row(begin, end, [&](i64 plane, const AxisSource& y, float* to) {
      const auto upper = plane + y.first, lower = plane + y.second;
      blend(wide.get(upper, lower), wide.get(lower, upper), y.weight, to, width);
    });
  });
}

}  // namespace

i64 resize_scratch_size(const Resizing& what, int threads) {
  return widens(what) ? threads * 2 * std::ssize(what.columns) * (what.blocked ? kBlock : 1) : 0;
}

void resize(const Resizing& what, const float* in, float* out, float* scratch, ThreadPool& pool) {
  if (what.blocked) resize_planes<kBlock>(what, in, out, scratch, pool);
  else resize_planes<1>(what, in, out, scratch, pool);
}

}  // namespace ovir::fast
