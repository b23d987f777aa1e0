#include "exec/growing_states.hpp"

#include <algorithm>
#include <ranges>

#include "op/shared_attrs.hpp"
#include "op/work.hpp"

namespace ovir {

bool GrowingStates::run(const Step& step, i64& work) {
  if (step.caching == Caching::none) return false;
  for (const auto id : step.outputs) sized_.rooms[id] = 0;
  if (context_.observer) return false;  // who watches sees dense values
  work = 0;
  switch (step.caching) {
    case Caching::none: break;
    case Caching::read: return read(step);
    case Caching::reorder: return reorder(step.inputs[0], sized_.tensors[step.inputs[1]], step.outputs[0]);
    case Caching::append: return append(step.inputs[0], sized_.tensors[step.inputs[1]], step.outputs[0], work);
    case Caching::keep: return keep(step, step.inputs[0]);
  }
  return false;
}

const Tensor& GrowingStates::make_dense(int id) {
  if (sized_.rooms[id] > 0) set(id, {dense(get(id), context_.runtime.pool())});
  return sized_.tensors[id];
}

void GrowingStates::set(int id, State value) {
  sized_.tensors[id] = std::move(value.tensor);
  sized_.rooms[id] = value.room;
}

bool GrowingStates::read(const Step& step) {
  const auto* held = context_.states.find(plan_.node(step).as<VariableAttrs>().variable_id);
  if (!held) return false;
  require_planned(plan_.value(step.outputs[0]), held->tensor);
  set(step.outputs[0], *held);
  return true;
}

/// All sequences in the order in which they are stay where they are.
bool GrowingStates::reorder(int from, const Tensor& indices, int to) {
  const auto& past = sized_.tensors[from];
  const bool same = past.rank() > 0 && indices.shape() == Shape{past.dim(0)} &&
                    std::ranges::equal(to_i64(indices), std::views::iota(i64{0}, past.dim(0))) &&
                    plan_.value(to).shape.contains(past.shape());
  if (same) set(to, get(from));
  else make_dense(from);
  return same;
}

bool GrowingStates::append(int from, const Tensor& added, int to, i64& work) {
  const auto past = get(from);
  const auto& planned = plan_.value(to).shape;
  auto shape = past.tensor.shape();
  bool fits = past.tensor.type() == added.type() && shape.rank() == planned.rank() && shape.rank() == added.rank();
  for (i64 i = 0; fits && i < shape.rank(); ++i) {
    if (i == past.axis) shape[i] = saturating_add(shape[i], added.dim(i));
    else fits = shape[i] == added.dim(i);
  }
  if (!fits || !planned.contains(shape)) {  // what is wrong is the operation's to say
    make_dense(from);
    return false;
  }
  work = added.size() / kStepsAtOnce;
  spend(work);
  set(to, ovir::append(past, added, room_for(shape, past.axis, added.type()), context_.runtime.pool()));
  return true;
}

bool GrowingStates::keep(const Step& step, int from) {
  if (sized_.rooms[from] == 0) return false;
  context_.states.keep(plan_.node(step).as<VariableAttrs>().variable_id, get(from));
  return true;
}

/// For more than this along the axis, where the plan runs often and memory is not short.
i64 GrowingStates::room_for(const Shape& shape, i64 axis, ElementType type) const {
  constexpr i64 kLeast = 32;
  const auto& memory = *context_.runtime.memory();
  const auto room = saturating_add(shape[axis], std::max(shape[axis] / 2, kLeast));
  i64 bytes = byte_width(type);
  for (i64 i = 0; i < shape.rank(); ++i) bytes = saturating_mul(bytes, i == axis ? room : shape[i]);
  return plan_.options.steady() && bytes < memory.limit() / 2 - memory.used() ? room : shape[axis];
}

}  // namespace ovir
