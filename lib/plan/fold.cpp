// fold: known values become constants, and steps that nothing depends on go.
#include <algorithm>
#include <optional>

#include "diag/diagnostic.hpp"
#include "op/compute.hpp"
#include "op/infer_context.hpp"
#include "op/work.hpp"
#include "plan/passes.hpp"
#include "plan/pattern.hpp"

namespace ovir::plan_passes {
namespace {

/// Outputs whose known values were rounded to a narrow float on the way, which Precision::f32 does not do. Integers and
/// booleans count as they were inferred: shapes follow from them.
std::vector<char> rounded_values(const Plan& plan) {
  std::vector<char> rounded(plan.values.size(), 0);
  if (plan.options.precision == Precision::declared) return rounded;
  for (const auto& step : plan.steps) {
    if (step.nodes.empty()) continue;
    const auto& node = plan.node(step);
    const bool computes = node.version->lift == Lift::compute;
    const bool from = std::any_of(step.inputs.begin(), step.inputs.end(), [&](int id) { return rounded[id] != 0; });
    for (const auto id : step.outputs) {
      const auto type = plan.value(id).declared;
      rounded[id] = is_float(type) && (from || (computes && is_narrow(type)));
    }
  }
  return rounded;
}

void make_constant(Value& value, Tensor tensor) {
  value.role = Role::constant;
  value.stored = tensor.type();
  value.shape = PartialShape(tensor.shape());
  value.constant = std::move(tensor);
}

/// What inference has computed already.
void fold_known(Plan& plan) {
  const auto rounded = rounded_values(plan);
  std::vector<char> gone(plan.steps.size(), 0);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const auto& step = plan.steps[s];
    if (step.nodes.empty() || plan.node(step).op->kind != Kind::compute) continue;
    const auto known = [&](int id) { return !rounded[id] && plan.facts->of(plan.value(id).source).value; };
    if (step.outputs.empty() || !std::all_of(step.outputs.begin(), step.outputs.end(), known)) continue;
    for (const auto id : step.outputs) {
      auto& value = plan.values[id];
      auto tensor = plan.facts->of(value.source).value;
      make_constant(value, tensor.type() == value.stored ? tensor : convert(tensor, value.stored));
    }
    gone[s] = 1;
  }
  remove_steps(plan, gone);
}

/// A node all of whose inputs are constants.
struct Computation {
  std::shared_ptr<const Model> model;
  int index;
  std::vector<Tensor> inputs;
  std::vector<ElementType> declared, stored;  ///< of inputs, of outputs

  /// Of the node of a step; nothing where it cannot be folded.
  static std::optional<Computation> of(const Plan& plan, const Step& step) {
    if (step.nodes.empty()) return std::nullopt;
    const auto& node = plan.node(step);
    if (node.op->kind != Kind::compute || !node.version->pure || !node.bodies.empty() || step.inputs.empty())
      return std::nullopt;
    Computation what{plan.model, step.nodes.back(), {}, {}, {}};
    for (const auto id : step.inputs) {
      const auto& value = plan.value(id);
      if (value.role != Role::constant || !value.constant) return std::nullopt;
      what.inputs.push_back(value.constant);
      what.declared.push_back(value.declared);
    }
    for (const auto id : step.outputs) what.stored.push_back(plan.value(id).stored);
    return what;
  }

  const Node& node() const { return (*model)[index]; }

  std::vector<Fact> outputs() const {
    std::vector<Fact> facts;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      facts.push_back({declared[i], inputs[i].shape(), inputs[i], nullptr});
    InferContext infer(*node().op, *node().version, node().attrs.get(), facts, static_cast<int>(stored.size()));
    infer.check_signature();
    if (node().version->infer) node().version->infer(infer);
    return infer.outputs();
  }

  i64 steps(const std::vector<Fact>& facts) const {
    return steps_of(*node().version, node().attrs.get(), inputs, facts);
  }

  std::vector<Tensor> results(const std::vector<Fact>& facts) const {
    EvalContext eval(*node().version, node().attrs.get(), inputs, facts, stored);
    eval.set_type(node().op->type);
    compute(eval);
    return std::move(eval.finish());
  }

  /// Whether it is weights that mostly one kernel wants, who packs them, or nobody where they are packed already. Those
  /// of which each element follows from one of each input: no element makes that fail.
  bool is_deferred() const {
    constexpr i64 kLarge = 16384;
    const auto& version = *node().version;
    return (version.error == ErrorBound::elementwise || version.converts || version.view) && stored.size() == 1 &&
           stored[0] == ElementType::f32 &&
           std::ranges::any_of(inputs, [](const Tensor& t) { return t.size() >= kLarge; });
  }

  /// The result, computed when somebody asks for its elements.
  Tensor deferred(const std::vector<Fact>& facts) const {
    return Tensor::deferred(stored[0], facts[0].shape.to_shape(), [*this, facts] {
      auto now = *this;
      for (auto& t : now.inputs) t = t.apart();  // what they are made of goes with them
      return now.results(facts).at(0);
    });
  }
};

/// Whether a step converts a constant of a narrower float to f32, which it is between steps anyway.
bool is_widened_already(const Plan& plan, const Step& step) {
  if (step.nodes.size() != 1 || !plan.node(step).version->converts) return false;
  const auto &from = plan.value(step.inputs[0]), &to = plan.value(step.outputs[0]);
  return from.constant && is_narrow(from.declared) && from.stored == ElementType::f32 && to.declared == from.stored;
}

/// Nodes that patterns take with others although they follow from constants.
std::vector<char> left_to_patterns(const Plan& plan, const PlanOptions& options) {
  std::vector<char> left(plan.model->nodes.size(), 0), free(left);
  if (options.tier != Tier::fast || !options.has("fuse")) return left;
  for (const auto& step : plan.steps)
    if (is_offered(plan, step)) free[step.nodes[0]] = 1;
  const Graphlet graph(plan, free, false);
  for (const auto* pattern : options.patterns)
    for (int i = 0; pattern->unfolded && options.has(pattern->name) && i < std::ssize(free); ++i)
      if (pattern->begins_at(graph.type(i)))
        for (const auto node : pattern->unfolded(graph, i)) left[node] = 1;
  return left;
}

/// What follows from constants: all of it, or only what is_widened_already().
void fold_computed(Plan& plan, const PlanOptions& options, bool all) {
  WorkBudget work(default_work_limit(bytes_of(*plan.model->graph)));
  const WorkBudget::Scope working(work);
  std::vector<char> gone(plan.steps.size(), 0);
  const auto left = left_to_patterns(plan, options);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    auto& step = plan.steps[s];
    if (!step.nodes.empty() && left[step.nodes.back()]) continue;
    if (is_widened_already(plan, step)) {
      const auto& from = plan.value(step.inputs[0]);
      auto& to = plan.values[step.outputs[0]];
      make_constant(to, from.constant);
      to.narrow = from.narrow;
      gone[s] = 1;
      continue;
    }
    if (!all) continue;
    const auto what = Computation::of(plan, step);
    if (!what) continue;
    std::vector<Tensor> results;
    try {
      const auto facts = what->outputs();
      spend(what->steps(facts));
      if (what->is_deferred() && facts[0].shape.is_static()) results.push_back(what->deferred(facts));
      else results = what->results(facts);
    } catch (const Failure&) {
      continue;  // the run will say so, if it comes to that
    }
    for (std::size_t o = 0; o < step.outputs.size(); ++o)
      make_constant(plan.values[step.outputs[o]], std::move(results[o]));
    gone[s] = 1;
  }
  remove_steps(plan, gone);
}

}  // namespace

std::vector<char> remove_unread(Plan& plan) {
  std::vector<char> needed(plan.values.size(), 0);
  for (const auto id : plan.results) needed[id] = 1;
  std::vector<char> gone(plan.steps.size(), 1);
  for (std::size_t s = plan.steps.size(); s-- > 0;) {
    const auto& step = plan.steps[s];
    const bool assigns = !step.nodes.empty() && plan.node(step).op->kind == Kind::assign;
    if (!assigns && std::none_of(step.outputs.begin(), step.outputs.end(), [&](int id) { return needed[id] != 0; }))
      continue;
    gone[s] = 0;
    for (const auto id : step.inputs) needed[id] = 1;
  }
  remove_steps(plan, gone);
  return needed;
}

namespace {

void prune(Plan& plan) {
  auto needed = remove_unread(plan);
  for (int id = 0; id < std::ssize(plan.values); ++id)
    if (needed[id] && plan.value(id).narrow >= 0) needed[plan.value(id).narrow] = 1;
  for (std::size_t id = 0; id < plan.values.size(); ++id) {
    auto& value = plan.values[id];
    if (value.role != Role::constant) continue;
    if (!needed[id]) {
      value.constant = {};
    } else if (!value.constant) {
      const auto& layer = *(*plan.model)[value.source.node].layer;
      fail(Code::E0301, "the weights are needed to run constant layer {} \"{}\"", layer.id, layer.name);
    }
  }
}

}  // namespace

void fold(Plan& plan, const PlanOptions& options) {
  if (plan.options.has("fold")) {
    fold_known(plan);
    prune(plan);  // what nobody needs is not computed beforehand either
    // Quantized weights follow from constants, and int8 kernels want to see them.
    const bool all = plan.options.steady() || plan.options.precision == Precision::int8;
    if (all || std::any_of(plan.steps.begin(), plan.steps.end(), [&](auto& s) { return is_widened_already(plan, s); }))
      fold_computed(plan, options, all);
  }
  prune(plan);
}

}  // namespace ovir::plan_passes
