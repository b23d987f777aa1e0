#include "exec/evaluate.hpp"

#include <algorithm>

#include "model/explain.hpp"
#include "model/report.hpp"
#include "op/compute.hpp"
#include "op/infer_context.hpp"
#include "op/work.hpp"
#include "plan/passes.hpp"

namespace ovir {
namespace {

Fact fact_of(ElementType declared, const Tensor& t) { return {declared, t.shape(), t, nullptr}; }

/// What is known of the operands of the nodes of a step while they are gone through in order. A constant that the
/// kernel has packed is none of the step's inputs: it comes from the plan.
template <class T, class FromConstant>
class Operands {
 public:
  Operands(const Plan& plan, const Step& step, std::vector<T> inputs, FromConstant from_constant)
      : plan_(plan), from_constant_(from_constant) {
    values_.reserve(inputs.size() + step.nodes.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) put(step.operands[i], std::move(inputs[i]));
  }
  void put(ValueRef v, T value) { values_.emplace_back(v, std::move(value)); }
  std::vector<T> of(const Node& node) const {
    std::vector<T> list;
    list.reserve(node.inputs.size());
    for (const auto& v : node.inputs) {
      const auto known = std::find_if(values_.begin(), values_.end(), [&](const auto& value) {
        return plan_passes::is_same_value(plan_, value.first, v);
      });
      list.push_back(known != values_.end() ? known->second
                                            : from_constant_(plan_.value(plan_passes::value_of(plan_, v))));
    }
    return list;
  }

 private:
  const Plan& plan_;
  FromConstant from_constant_;
  std::vector<std::pair<ValueRef, T>> values_;  // few: groups are small
};

/// A constant that no step reads. What a single run widens as it comes to it is there in the narrower float alone, if
/// at all before a Convert.
Tensor constant_of(const Plan& plan, const Value& v) {
  if (v.constant) return v.constant;
  if (v.narrow >= 0) return Tensor::widened(plan.value(v.narrow).constant);
  const auto* node = v.source.node < 0 ? nullptr : &(*plan.model)[v.source.node];
  if (!node || !node->version || !node->version->converts) return {};
  const auto from = constant_of(plan, plan.value(plan_passes::value_of(plan, node->inputs.at(0))));
  if (!from || from.type() == v.stored) return from;
  return Tensor::deferred(v.stored, from.shape(), [from, to = v.stored] { return convert(from, to); });
}

/// The outputs' facts for this very call.
std::vector<Fact> infer_now(const Plan& plan, int index, const std::vector<Fact>& inputs) {
  const auto& node = (*plan.model)[index];
  const auto& inferred = plan.facts->outputs[index];
  InferContext c(*node.op, *node.version, node.attrs.get(), inputs, static_cast<int>(inferred.size()));
  c.set_declared(inferred);
  c.check_signature();
  // A layer with bodies finds its outputs' shapes by running them; of its inputs as much is demanded as ever.
  c.set_bodies(node.maps,
               [&](int body, const std::vector<Fact>&) { return std::vector<Fact>(node.maps[body].result_count); });
  if (node.version->infer) node.version->infer(c);
  if (!node.bodies.empty()) return inferred;
  return std::move(c.outputs());
}

std::vector<Fact> facts_of(const Plan& plan, const Node& node, const std::vector<Tensor>& inputs) {
  std::vector<Fact> facts;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    facts.push_back(fact_of(plan.facts->of(node.inputs[i]).type == ElementType::dynamic
                                ? inputs[i].type()
                                : plan.facts->of(node.inputs[i]).type,
                            inputs[i]));
  return facts;
}

/// Runs `work` of a node; a Failure is completed with what `facts` says of the inputs.
template <class Facts, class Work>
auto at_node(const Plan& plan, int index, const Facts& facts, Work work) {
  try {
    return work();
  } catch (Failure& failure) {
    complete(failure.diagnostic, plan, index, facts());
    throw;
  }
}

/// The reference kernel of a node, with what inference says of its outputs.
std::vector<Tensor> compute(const Plan& plan, const Step& step, int index, const std::vector<Tensor>& inputs,
                            const std::vector<Fact>& outputs, EvalHost* host) {
  const auto& node = (*plan.model)[index];
  const bool last = index == step.nodes.back();
  std::vector<ElementType> stored;
  std::vector<std::uint8_t> unwanted;
  for (const auto id : plan.value_of[index]) {
    stored.push_back(plan.value(id).stored);
    unwanted.push_back(last && plan.value(id).reads == 0 && outputs.size() > 1);
  }
  EvalContext c(*node.version, node.attrs.get(), inputs, outputs, stored);
  c.set_type(node.op->type);
  c.set_host(host, node.maps);
  c.set_unwanted(unwanted);
  return at_node(
      plan, index, [&] { return facts_of(plan, node, inputs); },
      [&] {
        ovir::compute(c);
        return std::move(c.finish());
      });
}

std::vector<Tensor> evaluate(const Plan& plan, const Step& step, int index, const std::vector<Tensor>& inputs,
                             EvalHost* host, i64& work) {
  const auto& node = (*plan.model)[index];
  const auto facts = facts_of(plan, node, inputs);
  const auto outputs = at_node(
      plan, index, [&] { return facts; }, [&] { return infer_now(plan, index, facts); });
  const auto steps = steps_of(*node.version, node.attrs.get(), inputs, outputs);
  spend(steps);
  work = saturating_add(work, steps);
  return compute(plan, step, index, inputs, outputs, host);
}

}  // namespace

void complete(Diagnostic& d, const Plan& plan, int index, std::span<const Fact> inputs) {
  const auto& node = (*plan.model)[index];
  std::vector<Fact> facts;
  for (int i = 0; i < std::ssize(inputs); ++i) {
    auto fact = plan.facts->of(node.inputs[i]);
    fact.shape = inputs[i].shape;
    if (node.version->reads.contains(i) && inputs[i].value) fact.value = inputs[i].value;
    facts.push_back(std::move(fact));
  }
  if (std::ssize(facts) == std::ssize(node.inputs)) explain(d, *plan.model, node, facts);
  locate(d, *plan.model, *node.layer);
}

std::vector<Fact> facts_of_inputs(const Plan& plan, const Step& step, std::span<const Tensor> inputs) {
  std::vector<Fact> facts;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto declared = plan.value(plan_passes::value_of(plan, step.operands[i])).declared;
    facts.push_back(fact_of(declared == ElementType::dynamic ? inputs[i].type() : declared, inputs[i]));
  }
  return facts;
}

std::vector<Fact> infer_group(const Plan& plan, const Step& step, std::vector<Fact> inputs, const NodeFacts& tell) {
  Operands operands(plan, step, std::move(inputs),
                    [&](const Value& v) { return fact_of(v.declared, constant_of(plan, v)); });
  std::vector<int> settled;  // nodes that follow from constants alone: of these planning has said all there is
  const auto is_settled = [&](ValueRef v) {
    return plan.value(plan_passes::value_of(plan, v)).role == Role::constant ||
           std::find(settled.begin(), settled.end(), v.node) != settled.end();
  };
  for (const auto index : step.nodes) {
    const auto& node = (*plan.model)[index];
    if (index != step.nodes.back() && std::all_of(node.inputs.begin(), node.inputs.end(), is_settled)) {
      settled.push_back(index);
      const auto& known = plan.facts->outputs[index];
      for (int o = 0; o < std::ssize(known); ++o) operands.put({index, o}, known[o]);
      continue;
    }
    const auto facts = operands.of(node);
    auto outputs = at_node(
        plan, index, [&] { return facts; }, [&] { return infer_now(plan, index, facts); });
    tell(node, facts, outputs);
    if (index == step.nodes.back()) return outputs;
    for (int o = 0; o < std::ssize(outputs); ++o) operands.put({index, o}, std::move(outputs[o]));
  }
  return {};
}

std::vector<Tensor> evaluate_group(const Plan& plan, const Step& step, std::span<const Tensor> inputs, EvalHost* host,
                                   i64& work) {
  Operands operands(plan, step, std::vector<Tensor>(inputs.begin(), inputs.end()),
                    [&](const Value& v) { return constant_of(plan, v); });
  for (const auto index : step.nodes) {
    auto outputs = evaluate(plan, step, index, operands.of((*plan.model)[index]), host, work);
    if (index == step.nodes.back()) return outputs;
    for (int o = 0; o < std::ssize(outputs); ++o) operands.put({index, o}, std::move(outputs[o]));
  }
  return {};
}

std::vector<Tensor> evaluate_node(const Plan& plan, const Step& step, const std::vector<Tensor>& inputs,
                                  const std::vector<Fact>& outputs, EvalHost* host) {
  return compute(plan, step, step.nodes.back(), inputs, outputs, host);
}

void fail_shape(const std::string& inferred, const Shape& shape) {
  fail(Code::E0506, "the output must have shape {} as inferred, but has {}", inferred, to_string(shape));
}

}  // namespace ovir
