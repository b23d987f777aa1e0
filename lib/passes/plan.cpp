// plan: one step a node that computes, its kernel, and the last use of every value.
#include <algorithm>

#include "passes/detail.hpp"

namespace ovir::passes {
namespace {

bool all_static(const std::vector<Fact>& facts) {
  return std::all_of(facts.begin(), facts.end(),
                     [](const Fact& f) { return f.shape.is_static() && f.type != ElementType::dynamic; });
}

bool all_known(const std::vector<Fact>& facts) {
  return !facts.empty() &&
         std::all_of(facts.begin(), facts.end(), [](const Fact& f) { return static_cast<bool>(f.value); });
}

Kernel choose_kernel(const Node& node, std::span<const Fact> inputs, std::span<const Fact> outputs,
                     const PlanOptions& options) {
  if (options.tier == Tier::reference) return {};
  const NodeView view{*node.op, *node.version, node.attrs.get(), inputs, outputs, options.repeated};
  for (const auto& fast : options.fast)
    if (fast.type == node.op->type)
      if (auto kernel = fast.prepare(view)) return kernel;
  return {};
}

}  // namespace

std::shared_ptr<const Plan> plan(std::shared_ptr<const Model> model, const Facts& facts, const PlanOptions& options) {
  auto plan = std::make_shared<Plan>();
  plan->model = model;
  std::vector<int> first_slot(model->nodes.size());
  for (std::size_t i = 0; i < model->nodes.size(); ++i) {
    first_slot[i] = plan->slot_count;
    plan->slot_count += static_cast<int>(facts.outputs[i].size());
  }
  const auto slot_of = [&](ValueRef v) { return first_slot[static_cast<std::size_t>(v.node)] + v.port; };

  // What the results need, and whatever changes a state.
  std::vector<bool> needed(model->nodes.size(), false);
  for (std::size_t i = model->nodes.size(); i-- > 0;) {
    const auto& node = model->nodes[i];
    if (node.op->kind == Kind::result || node.op->kind == Kind::assign) needed[i] = true;
    if (options.keep && node.op->kind == Kind::compute) needed[i] = true;
    if (needed[i] && !(node.op->kind == Kind::compute && all_known(facts.outputs[i]) && !options.keep))
      for (const auto& v : node.inputs) needed[static_cast<std::size_t>(v.node)] = true;
  }

  std::vector<bool> constant(model->nodes.size(), false);
  for (std::size_t i = 0; i < model->nodes.size(); ++i) {
    const auto& node = model->nodes[i];
    const auto& outputs = facts.outputs[i];
    if (node.op->kind == Kind::parameter || node.op->kind == Kind::result || !needed[i]) continue;
    const bool known = all_known(outputs);
    if (node.op->kind == Kind::constant || (known && !options.keep)) {
      if (!known)
        fail(Code::E0301, "the weights are needed to run constant layer {} \"{}\"", node.layer->id, node.layer->name);
      for (std::size_t o = 0; o < outputs.size(); ++o)
        plan->constants.emplace_back(first_slot[i] + static_cast<int>(o), outputs[o].value);
      constant[i] = true;
      continue;
    }
    Step step;
    step.node = static_cast<int>(i);
    std::vector<Fact> inputs;
    for (const auto& v : node.inputs) {
      step.inputs.push_back(slot_of(v));
      inputs.push_back(facts.of(v));
    }
    step.first_output = first_slot[i];
    step.from_constants = node.op->kind == Kind::compute && node.version->pure && node.bodies.empty() &&
                          !node.inputs.empty() && std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueRef v) {
                            return constant[static_cast<std::size_t>(v.node)];
                          });
    constant[i] = step.from_constants;
    step.facts = outputs;
    step.fixed_shapes = all_static(outputs) && all_static(inputs) && node.bodies.empty();
    step.kernel = choose_kernel(node, inputs, outputs, options);
    if (!step.kernel && !node.version->eval) {
      Diagnostic d;
      d.code = Code::E0605;
      d.message = fmt::format("ovir has no kernel for {} of {} yet", node.op->type, node.layer->version);
      d.layer = layer_ref(*model, *node.layer);
      d.at = node.layer->at;
      fail(std::move(d));
    }
    for (std::size_t b = 0; b < node.bodies.size(); ++b)
      step.bodies.push_back(passes::plan(node.bodies[b], facts.bodies[i].at(b), options));
    plan->steps.push_back(std::move(step));
  }
  for (const auto p : model->parameters) {
    plan->parameter_slots.push_back(first_slot[static_cast<std::size_t>(p)]);
    plan->parameters.push_back(facts.outputs[static_cast<std::size_t>(p)].at(0));
  }
  for (const auto r : model->results) {
    const auto received = model->nodes[static_cast<std::size_t>(r)].inputs.at(0);
    plan->result_slots.push_back(slot_of(received));
    plan->result_types.push_back(facts.of(received).type);
  }

  // Walk backwards: the first step met that uses a slot is the last one to need it.
  std::vector<bool> alive(static_cast<std::size_t>(plan->slot_count), false);
  for (const auto s : plan->result_slots) alive[static_cast<std::size_t>(s)] = true;
  for (const auto& [s, value] : plan->constants) alive[static_cast<std::size_t>(s)] = true;
  for (auto step = plan->steps.rbegin(); step != plan->steps.rend(); ++step) {
    for (std::size_t o = 0; o < step->facts.size(); ++o)
      step->unwanted.push_back(!options.keep && !alive[static_cast<std::size_t>(step->first_output) + o]);
    const auto last_use = [&](int s) {
      if (alive[static_cast<std::size_t>(s)]) return;
      alive[static_cast<std::size_t>(s)] = true;
      step->frees.push_back(s);
    };
    for (const auto s : step->inputs) last_use(s);
    for (std::size_t o = 0; o < step->facts.size(); ++o) last_use(step->first_output + static_cast<int>(o));
  }
  return plan;
}

}  // namespace ovir::passes
