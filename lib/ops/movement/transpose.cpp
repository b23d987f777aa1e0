// Transpose: the axes in another order.
// Spec: operation-sets/operation-specs/movement/transpose-1
#include "ops/movement/common.hpp"

namespace ovir::ops::transpose {
namespace {

enum Input { arg, input_order };

/// "If input_order is an empty list, axes are reversed."
std::vector<i64> reversed(i64 rank) {
  std::vector<i64> order;
  for (auto i = rank; i-- > 0;) order.push_back(i);
  return order;
}

bool is_permutation(const std::vector<i64>& order) {
  std::vector<bool> seen(order.size(), false);
  for (const auto axis : order) {
    if (axis < 0 || axis >= std::ssize(order) || seen[axis]) return false;
    seen[axis] = true;
  }
  return true;
}

void infer(InferContext& c) {
  c.require_rank(input_order, 1);
  const auto& from = c.shape(arg);
  const auto entries = axis_count(c.shape(input_order));
  auto order = c.ints(input_order);
  const bool empty = entries.is_static() && entries.length() == 0;
  if (empty && from.has_rank()) order = reversed(from.rank());
  if (from.has_rank() && !entries.contains(0))
    c.require_same_dim(from.rank(), entries, input_order, "the rank of \"arg\"",
                       "the number of elements of \"input_order\"");
  if (order)
    c.require(is_permutation(*order), input_order, Code::E0508,
              "input \"input_order\" of Transpose must name every axis once, but is {}", to_string(*order));

  if (!from.has_rank()) {
    return c.output(0, empty ? PartialShape::unknown_rank() : shape_of_rank(entries));
  }
  if (!order) return c.output(0, PartialShape::of_rank(from.rank()));
  PartialShape out;
  for (const auto axis : *order) out.push_back(from[axis]);
  c.output(0, std::move(out));
}

void eval(EvalContext& c) {
  const auto& from = c.in(arg);
  Shape order = c.ints(input_order), shape;
  if (order.empty()) order = reversed(from.rank());
  for (const auto axis : order) shape.push_back(from.dim(axis));
  permute(from, from.shape(), order, c.out(0, std::move(shape)));
}

constexpr TypeVar T{"T", kAnyType}, TAxis{"T_AXIS", kInteger};
constexpr PortDef kInputs[] = {{"arg", T}, {"input_order", TAxis}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .infer = infer,
     .reads = ports(input_order),
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving},
};

}  // namespace

extern constinit const OpDef def{.type = "Transpose", .spec = "movement/transpose", .versions = kVersions};

}  // namespace ovir::ops::transpose
