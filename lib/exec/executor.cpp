#include "exec/executor.hpp"

#include <algorithm>

#include "op/shared_attrs.hpp"

namespace ovir {
namespace {

constexpr std::size_t kRecent = 8;

std::vector<std::optional<Shape>> static_shapes(const Plan& plan) {
  std::vector<std::optional<Shape>> shapes(plan.values.size());
  for (std::size_t id = 0; id < shapes.size(); ++id) {
    const auto& value = plan.values[id];
    if (value.shape.is_static()) shapes[id] = value.shape.to_shape();
  }
  return shapes;
}

}  // namespace

Executor::Executor(std::shared_ptr<const Plan> plan, std::shared_ptr<Arenas> arenas)
    : plan_(std::move(plan)),
      arenas_(arenas ? std::move(arenas) : std::make_shared<Arenas>()),
      dynamic_(plan_->steps.size()) {
  for (const auto& node : plan_->model->nodes)
    if (node.op->kind == Kind::read_value) variables_.push_back(node.as<VariableAttrs>().variable_id);
}
Executor::~Executor() = default;

Sized& Executor::sized_for(RunContext& context, std::span<const Tensor> inputs) {
  bool as_planned = true;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    as_planned = as_planned && plan_->value(plan_->parameters[k]).shape.contains(inputs[k].shape());
  if (!as_planned) {
    if (!loose_)
      loose_ = std::make_unique<Sized>(*plan_, std::vector<std::optional<Shape>>(plan_->values.size()), context.runtime,
                                       *arenas_);
    return *loose_;
  }
  if (!open_) open_ = std::make_unique<Sized>(*plan_, static_shapes(*plan_), context.runtime, *arenas_);
  if (open_->all_planned || context.observer) return *open_;
  auto* sized = recorded(context, inputs);
  return sized ? *sized : *open_;
}

/// Where memory is short, what was prepared for other sizes gives way to a run with new ones: the oldest first, until
/// half of the budget is free.
void Executor::make_room(RunContext& context) {
  const auto& memory = *context.runtime.memory();
  const auto is_short = [&] { return memory.used() > memory.limit() / 2; };
  if (is_short()) context.blocks.trim();
  while (is_short() && recent_.size() > 1) recent_.pop_back();
}

/// Where only the shapes of inputs and states decide a value's shape, the second run with the same ones knows it
/// beforehand. Null where this is the first.
Sized* Executor::recorded(RunContext& context, std::span<const Tensor> inputs) {
  key_.clear();
  for (const auto& t : inputs) key_.push_back(t.shape());
  context.states.add_shapes(variables_, key_);
  auto found = std::find_if(recent_.begin(), recent_.end(), [&](const Recorded& r) { return r.key == key_; });
  if (found == recent_.end()) {
    if (recent_.size() >= kRecent) recent_.pop_back();
    recent_.push_front({key_, {}, open_->work, nullptr});
    recording_ = &recent_.front();
    make_room(context);
    return nullptr;
  }
  recent_.splice(recent_.begin(), recent_, found);
  if (!found->sized) {
    make_room(context);
    auto shapes = static_shapes(*plan_);
    for (int k = 0; k < std::ssize(inputs); ++k) shapes[plan_->parameters[k]] = inputs[k].shape();
    for (const auto& [id, shape] : found->found) shapes[id] = shape;
    found->sized = std::make_unique<Sized>(*plan_, std::move(shapes), context.runtime, *arenas_, true);
    found->sized->work = found->work;
  }
  return found->sized.get();
}

}  // namespace ovir
