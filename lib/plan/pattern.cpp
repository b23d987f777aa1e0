#include "plan/pattern.hpp"

#include "plan/passes.hpp"

namespace ovir {

Graphlet::Graphlet(const Plan& plan, const std::vector<char>& free) : plan_(&plan), free_(&free) {
  users_.assign(plan.values.size(), {-1, 0});
  for (const auto& step : plan.steps)
    for (const auto id : step.inputs) {
      auto& [user, count] = users_[static_cast<std::size_t>(id)];
      user = step.nodes.empty() ? -1 : step.nodes.back();
      ++count;
    }
  for (const auto id : plan.results) {
    users_[static_cast<std::size_t>(id)].first = -1;
    ++users_[static_cast<std::size_t>(id)].second;
  }
}

std::string_view Graphlet::type(int i) const {
  return i >= 0 && (*free_)[static_cast<std::size_t>(i)] ? node(i).op->type : std::string_view();
}

ValueRef Graphlet::input(int i, int port) const {
  const auto& inputs = node(i).inputs;
  return port < static_cast<int>(inputs.size()) ? inputs[static_cast<std::size_t>(port)] : ValueRef{};
}

ElementType Graphlet::stored(ValueRef v) const { return plan_->value(plan_passes::value_of(*plan_, v)).stored; }

const Tensor* Graphlet::constant(ValueRef v) const {
  if (v.node < 0) return nullptr;
  const auto& value = plan_->value(plan_passes::value_of(*plan_, v));
  return value.role == Role::constant && value.constant ? &value.constant : nullptr;
}

bool Graphlet::is_read(ValueRef v) const {
  const auto& outputs = plan_->value_of[static_cast<std::size_t>(v.node)];
  return v.port < static_cast<int>(outputs.size()) && reads(outputs[static_cast<std::size_t>(v.port)]) > 0;
}

int Graphlet::only_user(ValueRef v) const {
  const auto [user, count] = users_[static_cast<std::size_t>(plan_passes::value_of(*plan_, v))];
  return count == 1 && user >= 0 && (*free_)[static_cast<std::size_t>(user)] ? user : -1;
}

}  // namespace ovir
