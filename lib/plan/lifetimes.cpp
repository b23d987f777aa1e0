// lifetimes: what every step needs to know before it runs: who reads its outputs, what dies with it, and whether its
// shapes are settled.
#include <algorithm>
#include <set>
#include <string>

#include "op/shared_attrs.hpp"
#include "plan/passes.hpp"

namespace ovir::plan_passes {
namespace {

bool is_settled(const Value& v) { return v.shape.is_static() && v.declared != ElementType::dynamic; }

/// Whether inference reads a value of some input that is not known before the run. For the shapes of bodies it reads
/// any, but demands nothing of them.
bool reads_unknown(const Plan& plan, int index) {
  const auto& node = (*plan.model)[index];
  if (!node.bodies.empty()) return false;
  for (int k = 0; k < std::ssize(node.inputs); ++k)
    if (node.version->reads.contains(k) && !plan.facts->of(node.inputs[k]).value) return true;
  return false;
}

/// Whether inference must judge this call: shapes are open, or a value that it reads is not known before the run.
bool infers(const Plan& plan, const Step& step) {
  const auto settled = [&](int id) { return is_settled(plan.value(id)); };
  if (!std::all_of(step.inputs.begin(), step.inputs.end(), settled) ||
      !std::all_of(step.outputs.begin(), step.outputs.end(), settled))
    return true;
  return std::any_of(step.nodes.begin(), step.nodes.end(), [&](int index) { return reads_unknown(plan, index); });
}

/// Adds the variables that a node assigns, itself or in its bodies.
void add_assigned(const Node& node, std::set<std::string>& to) {
  if (node.op->kind == Kind::assign) to.insert(node.as<VariableAttrs>().variable_id);
  for (const auto& body : node.bodies)
    for (const auto& inner : body->nodes) add_assigned(inner, to);
}

/// What follows from the shapes of the model's inputs, and of states as they are before the run, by value of the plan.
struct ByShapes {
  std::vector<char> shape, content;
};

ByShapes by_shapes(const Plan& plan) {
  ByShapes known{std::vector<char>(plan.values.size(), 0), std::vector<char>(plan.values.size(), 0)};
  const auto& model = *plan.model;
  std::set<std::string> assigned;  // before the node
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const auto& node = model.nodes[i];
    if (node.op->kind == Kind::result) continue;
    const auto& version = *node.version;
    bool shapes = true, contents = true, read = true;
    for (int k = 0; k < std::ssize(node.inputs); ++k) {
      const auto id = value_of(plan, node.inputs[k]);
      shapes = shapes && known.shape[id];
      contents = contents && known.content[id];
      read = read && (known.content[id] || !version.reads.contains(k));
    }
    const bool computes = node.op->kind == Kind::compute && node.bodies.empty();
    // What a ReadValue gives is the state or, where there is none, the initial value; the state may be of this run.
    const bool reads =
        node.op->kind == Kind::read_value && shapes && !assigned.contains(node.as<VariableAttrs>().variable_id);
    const bool follows =
        node.op->kind == Kind::parameter || reads || (computes && shapes && read && !version.sized_by_data);
    add_assigned(node, assigned);
    for (const auto id : plan.value_of[i]) {
      const auto& value = plan.value(id);
      const bool constant = value.role == Role::constant || node.op->kind == Kind::constant;
      known.shape[id] = constant || follows || is_settled(value);
      known.content[id] =
          constant || (computes && version.pure && known.shape[id] && (version.shape_only ? shapes : contents));
    }
  }
  return known;
}

/// Whether a second run with inputs and states of the same shapes can do without inference.
bool settles(const Plan& plan, const Step& step, const ByShapes& known) {
  const auto shape = [&](int id) { return known.shape[id] != 0; };
  for (const auto index : step.nodes) {
    const auto& node = (*plan.model)[index];
    if (node.op->kind != Kind::compute || !node.bodies.empty()) return false;
    for (int k = 0; k < std::ssize(node.inputs); ++k)
      if (node.version->reads.contains(k) && !known.content[value_of(plan, node.inputs[k])]) return false;
  }
  return std::all_of(step.inputs.begin(), step.inputs.end(), shape) &&
         std::all_of(step.outputs.begin(), step.outputs.end(), shape);
}

bool reads_variable(const Plan& plan, const Step& step) {
  return step.nodes.size() == 1 && plan.node(step).op->kind == Kind::read_value;
}

bool is_pure(const Plan& plan, const Step& step) {
  return std::ranges::all_of(step.nodes, [&](int index) {
    const auto& node = (*plan.model)[index];
    return node.op->kind == Kind::compute && node.version->pure && node.bodies.empty();
  });
}

/// Steps that compute nothing but initial values of variables, as the keys and values of what an encoder has found.
void find_initial(Plan& plan) {
  constexpr std::size_t kMostReaders = 256;  // of a step: more would take too much memory, and no decoder has as many
  if (std::ranges::none_of(plan.steps, [&](const Step& step) { return reads_variable(plan, step); })) return;
  std::vector<std::vector<int>> initial_of(plan.values.size());
  std::vector<char> used(plan.values.size(), 0);  // otherwise
  for (const auto id : plan.results) used[id] = 1;
  for (auto s = static_cast<int>(plan.steps.size()) - 1; s >= 0; --s) {
    auto& step = plan.steps[s];
    std::vector<int> readers;
    if (reads_variable(plan, step)) {
      readers = {s};
    } else if (is_pure(plan, step) && std::ranges::none_of(step.outputs, [&](int id) { return used[id] != 0; })) {
      for (const auto id : step.outputs) readers.insert(readers.end(), initial_of[id].begin(), initial_of[id].end());
      std::ranges::sort(readers);
      readers.erase(std::ranges::unique(readers).begin(), readers.end());
      if (readers.size() > kMostReaders) readers.clear();
      step.initial_of = readers;
    }
    for (const auto id : step.inputs) {
      if (readers.empty()) used[id] = 1;
      else initial_of[id].insert(initial_of[id].end(), readers.begin(), readers.end());
    }
  }
}

}  // namespace

bool is_view(const Plan& plan, const Step& step) {
  if (step.nodes.empty() || step.kernel || step.outputs.size() != 1) return false;
  const auto passes = [&](int index) {
    const auto& version = *(*plan.model)[index].version;
    // What is to become f32 is f32 between steps.
    return version.view || (version.converts && plan.value(value_of(plan, {index, 0})).declared == ElementType::f32);
  };
  if (!std::ranges::all_of(step.nodes, passes)) return false;
  const auto& from = plan.value(step.inputs.at(0));
  const auto& to = plan.value(step.outputs[0]);
  return from.stored == to.stored && from.layout == to.layout && bit_width(from.stored) >= 8 &&
         from.stored != ElementType::string;
}

bool passes_on(const Plan& plan, const Step& step) { return is_view(plan, step) && !infers(plan, step); }

void lifetimes(Plan& plan) {
  for (auto& value : plan.values) value.reads = 0;
  for (const auto& step : plan.steps)
    for (const auto id : step.inputs) ++plan.values[id].reads;
  for (const auto id : plan.results) {
    auto& value = plan.values[id];
    ++value.reads;
    value.result = true;
  }
  const auto known = by_shapes(plan);
  // Backwards: the first step met that uses a value is the last one to need it.
  std::vector<char> alive(plan.values.size(), 0);
  for (std::size_t id = 0; id < plan.values.size(); ++id)
    alive[id] = plan.values[id].result || plan.values[id].role == Role::constant;
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
    step->frees.clear();
    const auto last_use = [&](int id) {
      if (std::exchange(alive[id], 1) == 0) step->frees.push_back(id);
    };
    for (const auto id : step->inputs) last_use(id);
    for (const auto id : step->outputs) last_use(id);
    step->infers = infers(plan, *step);
    step->by_shapes = settles(plan, *step, known);
    step->view = is_view(plan, *step);
  }
  find_initial(plan);
}

}  // namespace ovir::plan_passes
