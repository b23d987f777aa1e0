#include "fast/kernels/movement/resize.hpp"

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

template <i64 kLanes>
void resize_planes(const Resizing& what, const float* in, float* out, ThreadPool& pool) {
  const auto height = std::ssize(what.rows), width = std::ssize(what.columns) * kLanes;
  const auto cost = static_cast<double>(std::ssize(what.columns)) * (what.nearest ? 2 : 6);
  parallel_ranges(pool, what.planes * height, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto* plane = in + i / height * what.height * what.width * kLanes;
      const auto& y = what.rows[static_cast<std::size_t>(i % height)];
      const auto *upper = plane + y.first * what.width * kLanes, *lower = plane + y.second * what.width * kLanes;
      if (what.nearest) nearest_row<kLanes>(what.columns, upper, out + i * width);
      else linear_row<kLanes>(what.columns, upper, lower, y.weight, out + i * width);
    }
  });
}

}  // namespace

void resize(const Resizing& what, const float* in, float* out, ThreadPool& pool) {
  if (what.blocked) resize_planes<kBlock>(what, in, out, pool);
  else resize_planes<1>(what, in, out, pool);
}

}  // namespace ovir::fast
