#include "fast/kernels/movement/resize.hpp"

#include <array>
#include <utility>

#include "fast/kernels/chunks.hpp"
#include "tensor/view.hpp"

namespace ovir::fast {
namespace {

/// Channels of a pixel: a number that is known here, or 0 where it is not.
template <i64 kKnown>
struct Channels {
  i64 count;
  operator i64() const { return kKnown > 0 ? kKnown : count; }  // NOLINT: it is that number
};

template <i64 kKnown>
void nearest_row(Channels<kKnown> n, std::span<const AxisSource> columns, const float* from, float* to) {
  for (const auto& c : columns) {
    std::copy_n(from + c.first * n, i64{n}, to);
    to += n;
  }
}

template <i64 kKnown>
void linear_row(Channels<kKnown> n, std::span<const AxisSource> columns, const float* from, float* to) {
  for (const auto& c : columns) {
    const auto *a = from + c.first * n, *b = from + c.second * n;
    for (i64 k = 0; k < n; ++k) to[k] = (1 - c.weight) * a[k] + c.weight * b[k];
    to += n;
  }
}

template <i64 kKnown>
void linear_row(Channels<kKnown> n, std::span<const AxisSource> columns, const float* upper, const float* lower,
                float weight, float* to) {
  for (const auto& c : columns) {
    const auto *a = upper + c.first * n, *b = upper + c.second * n, *d = lower + c.first * n, *e = lower + c.second * n;
    for (i64 k = 0; k < n; ++k) {
      const auto top = (1 - c.weight) * a[k] + c.weight * b[k], bottom = (1 - c.weight) * d[k] + c.weight * e[k];
      to[k] = (1 - weight) * top + weight * bottom;
    }
    to += n;
  }
}

/// Whether several output rows read an input row, so that widening it beforehand pays.
bool widens(const Resizing& what) { return !what.nearest && std::ssize(what.rows) > what.height; }

/// Input rows as wide as the output, the two that were wanted last.
template <i64 kKnown>
class WideRows {
 public:
  WideRows(const Resizing& what, const float* in, float* room) : what_(what), n_{what.channels}, in_(in) {
    for (auto& row : rows_) row.data = std::exchange(room, room + std::ssize(what.columns) * n_);
  }
  /// Row i of all planes; that of `keep` stays.
  const float* get(i64 i, i64 keep) {
    for (const auto& row : rows_)
      if (row.index == i) return row.data;
    auto& row = rows_[rows_[0].index == keep];
    row.index = i;
    linear_row(n_, what_.columns, in_ + i * what_.width * n_, row.data);
    return row.data;
  }

 private:
  struct Row {
    float* data = nullptr;
    i64 index = -1;
  };
  const Resizing& what_;
  Channels<kKnown> n_;
  const float* in_;
  std::array<Row, 2> rows_;
};

void blend(const float* a, const float* b, float weight, float* to, i64 n) {
  for (i64 i = 0; i < n; ++i) to[i] = (1 - weight) * a[i] + weight * b[i];
}

template <i64 kKnown>
void resize_planes(const Resizing& what, const float* in, float* out, float* scratch, ThreadPool& pool) {
  const Channels<kKnown> n{what.channels};
  const auto height = std::ssize(what.rows), width = std::ssize(what.columns) * n;
  const auto cost = static_cast<double>(std::ssize(what.columns) * ceil_div(n, kBlock)) * (what.nearest ? 2 : 6);
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
        const auto* row = in + (plane + y.first) * what.width * n;
        if (std::exchange(from, row) == row) std::copy_n(last, width, to);
        else nearest_row(n, what.columns, row, to);
        last = to;
      });
    });
  if (!widens(what))
    return parallel_ranges(pool, what.planes * height, cost, [&](i64 begin, i64 end) {
      each_row(begin, end, [&](i64 plane, const AxisSource& y, float* to) {
        const auto *upper = in + (plane + y.first) * what.width * n, *lower = in + (plane + y.second) * what.width * n;
        linear_row(n, what.columns, upper, lower, y.weight, to);
      });
    });
  Slots slots(scratch, 2 * width, slots_for(pool));
  parallel_ranges(pool, what.planes * height, cost, [&](i64 begin, i64 end) {
    const Slots::Lease room(slots);
    WideRows<kKnown> wide(what, in, room.data());
    each_row(begin, end, [&](i64 plane, const AxisSource& y, float* to) {
      const auto upper = plane + y.first, lower = plane + y.second;
      blend(wide.get(upper, lower), wide.get(lower, upper), y.weight, to, width);
    });
  });
}

}  // namespace

i64 resize_scratch_size(const Resizing& what, int threads) {
  return widens(what) ? threads * 2 * std::ssize(what.columns) * what.channels : 0;
}

void resize(const Resizing& what, const float* in, float* out, float* scratch, ThreadPool& pool) {
  if (what.channels == kBlock) resize_planes<kBlock>(what, in, out, scratch, pool);
  else if (what.channels == 1) resize_planes<1>(what, in, out, scratch, pool);
  else resize_planes<0>(what, in, out, scratch, pool);
}

}  // namespace ovir::fast
