#include "tensor/walk.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

#include "base/checked.hpp"

namespace ovir {

IndexWalker::IndexWalker(Shape shape)
    : shape_(std::move(shape)),
      index_(shape_.size(), 0),
      done_(std::any_of(shape_.begin(), shape_.end(), [](auto n) { return n <= 0; })) {}

AxisView::AxisView(const Shape& shape, i64 axis) : length(shape[axis]) {
  // A product that overflows belongs to a shape without elements.
  for (i64 i = 0; i < axis; ++i) outer = checked_mul(outer, shape[i]).value_or(0);
  for (i64 i = axis + 1; i < shape.rank(); ++i) inner = checked_mul(inner, shape[i]).value_or(0);
}

Shape broadcast_strides(const Shape& from, const Shape& to) {
  Shape strides(to.size(), 0);
  const Shape own = strides_of(from);
  if (from.size() > to.size())
    throw std::logic_error(fmt::format("{} cannot be broadcast to {}", to_string(from), to_string(to)));
  const auto missing = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1) strides[missing + i] = own[i];
  return strides;
}

BroadcastPlan::BroadcastPlan(const Shape& a, const Shape& b, const Shape& out) {
  const Shape a_strides = broadcast_strides(a, out), b_strides = broadcast_strides(b, out);
  // From the innermost axis: one that continues the axis within it, in both inputs, becomes part of it.
  for (auto i = out.size(); i-- > 0;) {
    const auto n = out[i], sa = a_strides[i], sb = b_strides[i];
    if (n == 1) continue;
    if (!outer.empty() && sa == a_outer.back() * outer.back() && sb == b_outer.back() * outer.back()) {
      outer.back() *= n;
    } else {
      outer.push_back(n);
      a_outer.push_back(sa);
      b_outer.push_back(sb);
    }
  }
  if (outer.empty()) return;
  run = outer.front();
  a_step = a_outer.front();
  b_step = b_outer.front();
  for (auto* axes : {&outer, &a_outer, &b_outer}) {
    axes->erase(axes->begin());
    std::reverse(axes->begin(), axes->end());
  }
}

}  // namespace ovir
