#include "exec/side_values.hpp"

#include <algorithm>

#include "exec/out_of_memory.hpp"
#include "exec/stored.hpp"
#include "op/compute.hpp"
#include "op/infer_context.hpp"
#include "op/work.hpp"
#include "plan/passes.hpp"

namespace ovir {
namespace {

/// Nodes whose outputs come by themselves: from the caller, the file, or a step of their own that gives all of them.
std::vector<char> computed_nodes(const Plan& plan) {
  std::vector<char> computed(plan.model->nodes.size(), 0);
  for (int i = 0; i < std::ssize(computed); ++i) {
    const auto kind = (*plan.model)[i].op->kind;
    computed[i] = kind == Kind::parameter || kind == Kind::constant || kind == Kind::result;
  }
  for (const auto& step : plan.steps)
    if (!step.nodes.empty()) computed[step.nodes.back()] = 1;
  return computed;
}

/// What is computed beside the run: not what has bodies or a state, which would be run twice.
bool can_be_side(const Node& node) {
  return node.op->kind == Kind::compute && node.version->pure && node.bodies.empty();
}

/// Not so where the layer is at fault, which one may be that nothing needs.
bool inferred(const Plan& plan, int node) {
  const auto& ids = plan.value_of[node];
  return std::none_of(ids.begin(), ids.end(), [&](int id) { return plan.value(id).declared == ElementType::dynamic; });
}

}  // namespace

SideValues::SideValues(const Plan& plan, Observer& observer)
    : plan_(plan),
      wanted_(plan.model->nodes.size(), 0),
      side_(wanted_),
      has_step_(wanted_),
      readers_(plan.values.size()) {
  const auto& model = *plan.model;
  auto computed = computed_nodes(plan);
  for (int i = 0; i < std::ssize(wanted_); ++i) wanted_[i] = observer.wants(model, i);
  // A step leaves out what nobody reads; an observer reads it.
  for (const auto& step : plan.steps) {
    if (step.nodes.empty() || !wanted_[step.nodes.back()]) continue;
    const auto& node = plan.node(step);
    const bool left_out =
        std::any_of(step.outputs.begin(), step.outputs.end(), [&](int id) { return plan.value(id).reads == 0; });
    if (!left_out || !can_be_side(node)) continue;
    computed[step.nodes.back()] = 0;
    has_step_[step.nodes.back()] = 1;
  }
  for (auto i = static_cast<int>(side_.size()); i-- > 0;) {
    if (wanted_[i] && !computed[i]) side_[i] = 1;
    if (!side_[i]) continue;
    if (!can_be_side(model[i]) || !inferred(plan, i)) {
      side_[i] = 0;
      continue;
    }
    for (const auto& v : model[i].inputs)
      if (!computed[v.node]) side_[v.node] = 1;
  }
  // Without an input that can come, nothing comes of it.
  std::vector<char> possible(computed);
  for (int i = 0; i < std::ssize(side_); ++i) {
    if (!side_[i]) continue;
    const auto& inputs = model[i].inputs;
    possible[i] =
        std::all_of(inputs.begin(), inputs.end(), [&](ValueRef v) { return possible[v.node] || side_[v.node]; }) &&
        !inputs.empty();
    side_[i] = possible[i];
  }
  for (int i = 0; i < std::ssize(side_); ++i) {
    if (!side_[i]) continue;
    const int k = static_cast<int>(order_.size());
    Side s;
    s.node = i;
    const auto& inputs = model[s.node].inputs;
    for (int p = 0; p < std::ssize(inputs); ++p) readers_[plan_passes::value_of(plan, inputs[p])].emplace_back(k, p);
    order_.push_back(std::move(s));
  }
  begin();
}

void SideValues::begin() {
  for (auto& side : order_) {
    const auto inputs = (*plan_.model)[side.node].inputs.size();
    side.missing = static_cast<int>(inputs);
    side.inputs.assign(inputs, Tensor());
    side.outputs.clear();
  }
}

void SideValues::come(int value, const Tensor& tensor, const Tell& tell) {
  std::vector<std::pair<int, Tensor>> there{{value, tensor}};
  while (!there.empty()) {
    const auto [id, t] = std::move(there.back());
    there.pop_back();
    for (const auto& [k, port] : readers_[id]) {
      auto& side = order_[k];
      if (side.missing == 0 || side.inputs[port]) continue;
      side.inputs[port] = t;
      if (--side.missing > 0) continue;
      try {
        compute(side);
      } catch (const Failure& failure) {
        if (is_limit(failure)) throw;
        side.inputs.clear();  // the same run is well without anybody who looks on
        continue;
      }
      const bool has_step = has_step_[side.node] != 0;
      // What a step gives comes when it has run.
      if (!has_step) tell(side.node, side.inputs, side.outputs);
      const auto& ids = plan_.value_of[side.node];
      for (std::size_t o = 0; o < side.outputs.size(); ++o)
        if (side.outputs[o] && !(has_step && plan_.value(ids[o]).reads > 0))
          there.emplace_back(ids[o], side.outputs[o]);
      side.inputs.clear();
      if (!has_step) side.outputs.clear();
    }
  }
}

std::vector<Tensor> SideValues::complete(int node, std::vector<Tensor> given) {
  if (!has_step_[node]) return given;
  const auto side = std::ranges::find(order_, node, &Side::node);
  const auto& ids = plan_.value_of[node];
  for (std::size_t o = 0; side != order_.end() && o < std::min(given.size(), side->outputs.size()); ++o)
    if (plan_.value(ids[o]).reads == 0) given[o] = std::move(side->outputs[o]);
  return given;
}

void SideValues::compute(Side& side) const {
  const auto& node = (*plan_.model)[side.node];
  std::vector<Fact> facts;
  for (std::size_t p = 0; p < side.inputs.size(); ++p) {
    const auto& t = side.inputs[p];
    facts.push_back({plan_.facts->of(node.inputs[p]).type, t.shape(), t, nullptr});
  }
  const auto& ids = plan_.value_of[side.node];
  InferContext infer(*node.op, *node.version, node.attrs.get(), facts, static_cast<int>(ids.size()));
  infer.check_signature();
  if (node.version->infer) node.version->infer(infer);
  spend(steps_of(*node.version, node.attrs.get(), side.inputs, infer.outputs()));
  std::vector<ElementType> stored;
  for (const auto id : ids) stored.push_back(type_as_declared(plan_.value(id)));
  EvalContext eval(*node.version, node.attrs.get(), side.inputs, infer.outputs(), stored);
  eval.set_type(node.op->type);
  ovir::compute(eval);
  side.outputs = std::move(eval.finish());
}

}  // namespace ovir
