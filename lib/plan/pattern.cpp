#include "plan/pattern.hpp"

#include "plan/passes.hpp"

namespace ovir {

Graphlet::Graphlet(const Plan& plan, const std::vector<char>& free, bool groups)
    : plan_(&plan), free_(&free), groups_(groups) {
  users_.resize(plan.values.size());
  for (const auto& step : plan.steps)
    for (const auto id : step.inputs) users_[id].push_back(step.nodes.empty() ? -1 : step.nodes.back());
  for (const auto id : plan.results) users_[id].push_back(-1);
}

std::string_view Graphlet::type(int i) const { return i >= 0 && (*free_)[i] ? any_type(i) : std::string_view(); }

std::string_view Graphlet::any_type(int i) const {
  return i >= 0 && node(i).op->set.empty() ? node(i).op->type : std::string_view();
}

ValueRef Graphlet::input(int i, int port) const {
  if (i < 0) return {};
  const auto& inputs = node(i).inputs;
  if (port >= std::ssize(inputs) || inputs[port].node < 0) return {};
  const auto source = plan_->value(plan_passes::value_of(*plan_, inputs[port])).source;
  return source.node >= 0 ? source : inputs[port];
}

ElementType Graphlet::stored(ValueRef v) const {
  return v.node < 0 ? ElementType::dynamic : plan_->value(plan_passes::value_of(*plan_, v)).stored;
}

const Tensor* Graphlet::constant(ValueRef v) const {
  if (v.node < 0) return nullptr;
  const auto& value = plan_->value(plan_passes::value_of(*plan_, v));
  return value.role == Role::constant && value.constant ? &value.constant : nullptr;
}

const Tensor* Graphlet::given(ValueRef v) const {
  if (v.node < 0) return nullptr;
  const auto& from = node(v.node);
  return from.op->kind == Kind::constant && from.constant ? &from.constant : nullptr;
}

ValueRef Graphlet::narrow(ValueRef v) const {
  if (v.node < 0 || stored(v) != ElementType::f32) return {};
  if (const auto* version = node(v.node).version; version && version->converts) v = input(v.node, 0);
  const auto* constant = given(v);
  return constant && plan_passes::is_half(constant->type()) ? v : ValueRef{};
}

const void* Graphlet::origin(ValueRef v) const {
  constexpr int kMost = 64;  // nodes
  const auto* from = narrow_constant(v);
  if (!from) from = given(v);
  if (from) return from->source();
  if (v.node < 0 || v.port != 0 || !constant(v)) return nullptr;
  // A constant of the plan may follow from its shapes.
  std::vector<int> nodes{v.node};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& computed = node(nodes[i]);
    if (computed.op->kind == Kind::constant) continue;
    if (computed.op->kind != Kind::compute || !computed.bodies.empty() || nodes.size() > kMost) return nullptr;
    for (const auto& input : computed.inputs)
      if (input.node >= 0) nodes.push_back(input.node);
  }
  return &node(v.node);
}

bool Graphlet::is_read(ValueRef v) const {
  if (v.node < 0) return false;
  const auto& outputs = plan_->value_of[v.node];
  return v.port < std::ssize(outputs) && reads(outputs[v.port]) > 0;
}

int Graphlet::reads(ValueRef v) const { return static_cast<int>(users(v).size()); }

int Graphlet::only_user(ValueRef v) const {
  const auto all = users(v);
  return all.size() == 1 && all[0] >= 0 && (*free_)[all[0]] ? all[0] : -1;
}

std::span<const int> Graphlet::users(ValueRef v) const {
  return v.node < 0 ? std::span<const int>() : users_[plan_passes::value_of(*plan_, v)];
}

}  // namespace ovir
