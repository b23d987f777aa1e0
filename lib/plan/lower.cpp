// lower: Model and Facts -> one step a node that computes, one value an output.
#include "diag/diagnostic.hpp"
#include "model/report.hpp"
#include "plan/passes.hpp"

namespace ovir::plan_passes {
namespace {

bool iterates(const Node& node) { return !node.maps.empty() && node.maps.front().role == "body"; }

/// A layer that inference found at fault, which only one may be that nothing needs.
bool inferred(const Facts& facts, int node) {
  return std::none_of(facts.outputs[node].begin(), facts.outputs[node].end(),
                      [](const Fact& fact) { return fact.type == ElementType::dynamic; });
}

void require_kernel(const Model& model, const Node& node) {
  if (node.version->eval) return;
  auto d = diagnose(Code::E0605, fmt::format("{} of {} has no kernel", node.op->type, node.layer->version));
  locate(d, model, *node.layer);
  fail(std::move(d));
}

}  // namespace

int value_of(const Plan& plan, ValueRef v) { return plan.value_of[v.node][v.port]; }

void lower(Plan& plan, const PlanOptions& options) {
  const auto& model = plan.model;
  const auto& facts = plan.facts;
  plan.value_of.resize(model->nodes.size());
  const auto used = used_nodes(*model);
  for (int i = 0; i < std::ssize(model->nodes); ++i) {
    const auto& node = model->nodes[i];
    const auto kind = node.op->kind;
    if (kind == Kind::result) {  // what it receives, where a layer reads on from it
      plan.value_of[i].assign(facts->outputs[i].size(), value_of(plan, node.inputs.at(0)));
      continue;
    }
    for (int port = 0; port < std::ssize(facts->outputs[i]); ++port) {
      const auto& fact = facts->outputs[i][port];
      plan.value_of[i].push_back(static_cast<int>(plan.values.size()));
      Value value;
      value.declared = value.stored = fact.type;
      value.shape = fact.shape;
      value.source = {i, port};
      if (kind == Kind::parameter) value.role = Role::parameter;
      if (kind == Kind::constant) {
        value.role = Role::constant;
        value.constant = node.constant.apart();
      }
      plan.values.push_back(std::move(value));
    }
    if (kind == Kind::parameter || kind == Kind::constant || (!used[i] && !inferred(*facts, i))) continue;
    require_kernel(*model, node);
    Step step;
    step.nodes = {i};
    step.operands = node.inputs;
    for (const auto& v : node.inputs) step.inputs.push_back(value_of(plan, v));
    step.outputs = plan.value_of[i];
    for (std::size_t b = 0; b < node.bodies.size(); ++b) {
      auto body_options = options;
      body_options.without.emplace_back("caches");  // the model around it may have the variable, too
      if (iterates(node)) body_options.expected_runs = std::max<i64>(options.expected_runs, 1000);
      step.bodies.push_back(
          make_plan(node.bodies[b], std::shared_ptr<const Facts>(facts, &facts->bodies[i].at(b)), body_options));
    }
    plan.steps.push_back(std::move(step));
  }
  for (const auto p : model->parameters) plan.parameters.push_back(value_of(plan, {p, 0}));
  for (const auto r : model->results) plan.results.push_back(value_of(plan, (*model)[r].inputs.at(0)));
}

void remove_steps(Plan& plan, const std::vector<char>& gone) {
  std::vector<Step> kept;
  kept.reserve(plan.steps.size());
  for (std::size_t s = 0; s < plan.steps.size(); ++s)
    if (!gone[s]) kept.push_back(std::move(plan.steps[s]));
  plan.steps = std::move(kept);
}

}  // namespace ovir::plan_passes
