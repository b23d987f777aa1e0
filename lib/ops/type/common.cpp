#include "ops/type/common.hpp"

#include "tensor/copy.hpp"

namespace ovir::ops {

void bounds_of_conversion(InferContext& c) {
  const auto to = c.out(0).type;
  // Lengths are far from the limits of the types that shapes are computed in: only the narrow ones can wrap.
  const bool whole = contains(set_of(ElementType::i64, ElementType::i32, ElementType::u64, ElementType::u32), to);
  if (!whole && !contains(set_of(ElementType::f32, ElementType::f64), to)) return;
  const auto from = c.intervals(0);
  if (!from) return;
  const bool from_real = contains(kFloat, c.type(0));
  std::vector<Interval> bounds;
  for (const auto& v : *from) {
    if (whole) bounds.push_back({std::trunc(v.lo), std::trunc(v.hi), from_real ? 0 : v.symbol});
    else if (to == ElementType::f32)
      bounds.push_back(
          {static_cast<double>(static_cast<float>(v.lo)), static_cast<double>(static_cast<float>(v.hi)), v.symbol});
    else bounds.push_back(v);
  }
  c.output_bounds(0, std::move(bounds));
}

void put_converted(EvalContext& c, int port, ElementType to) {
  const auto& from = c.in(port);
  if (from.type() == to) return c.set_out(port, from);
  if (c.stored_out_type(port) == to) return convert_into(from, c.out(port));
  auto rounded = c.scratch(to, from.shape());
  convert_into(from, rounded);
  c.set_out(port, std::move(rounded));
}

}  // namespace ovir::ops
