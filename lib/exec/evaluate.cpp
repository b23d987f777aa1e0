#include "exec/evaluate.hpp"

#include <map>

#include "model/explain.hpp"
#include "model/report.hpp"
#include "op/infer_context.hpp"
#include "plan/passes.hpp"

namespace ovir {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Fact fact_of(ElementType declared, const Tensor& t) { return {declared, t.shape(), t, nullptr}; }

/// What is known of the operands of the nodes of a step while they are gone through in order. A constant that the
/// kernel has packed is none of the step's inputs: it comes from the plan.
template <class T, class FromConstant>
class Operands {
 public:
  Operands(const Plan& plan, const Step& step, std::vector<T> inputs, FromConstant from_constant)
      : plan_(plan), from_constant_(from_constant) {
    for (std::size_t i = 0; i < inputs.size(); ++i) put(step.operands[i], std::move(inputs[i]));
  }
  void put(ValueRef v, T value) { values_.insert_or_assign({v.node, v.port}, std::move(value)); }
  std::vector<T> of(const Node& node) const {
    std::vector<T> list;
    for (const auto& v : node.inputs) {
      const auto known = values_.find({v.node, v.port});
      list.push_back(known != values_.end() ? known->second
                                            : from_constant_(plan_.value(plan_passes::value_of(plan_, v))));
    }
    return list;
  }

 private:
  const Plan& plan_;
  FromConstant from_constant_;
  std::map<std::pair<int, int>, T> values_;
};

/// The outputs' facts for this very call.
std::vector<Fact> infer_now(const Plan& plan, int index, const std::vector<Fact>& inputs) {
  const auto& node = (*plan.model)[index];
  const auto& inferred = plan.facts->outputs[at(index)];
  InferContext c(*node.op, *node.version, node.attrs.get(), inputs, static_cast<int>(inferred.size()));
  c.set_declared(inferred);
  c.check_signature();
  // A layer with bodies finds its outputs' shapes by running them; of its inputs as much is demanded as ever.
  c.set_bodies(node.maps, [&](int body, const std::vector<Fact>&) {
    return std::vector<Fact>(at(node.maps[at(body)].result_count));
  });
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

/// Runs `work` of a node; a Failure is completed.
template <class Work>
auto at_node(const Plan& plan, int index, const std::vector<Fact>& inputs, Work work) {
  try {
    return work();
  } catch (Failure& failure) {
    complete(failure.diagnostic, plan, index, inputs);
    throw;
  }
}

std::vector<Tensor> evaluate(const Plan& plan, const Step& step, int index, const std::vector<Tensor>& inputs,
                             EvalHost* host) {
  const auto& node = (*plan.model)[index];
  const bool last = index == step.nodes.back();
  const auto facts = facts_of(plan, node, inputs);
  const auto outputs = at_node(plan, index, facts, [&] { return infer_now(plan, index, facts); });
  std::vector<ElementType> stored;
  std::vector<std::uint8_t> unwanted;
  for (const auto id : plan.value_of[at(index)]) {
    stored.push_back(plan.value(id).stored);
    unwanted.push_back(last && plan.value(id).reads == 0 && outputs.size() > 1);
  }
  EvalContext c(*node.version, node.attrs.get(), inputs, outputs, stored);
  c.set_type(node.op->type);
  c.set_host(host, node.maps);
  c.set_unwanted(unwanted);
  return at_node(plan, index, facts, [&] {
    node.version->eval(c);
    return std::move(c.finish());
  });
}

}  // namespace

void complete(Diagnostic& d, const Plan& plan, int index, std::span<const Fact> inputs) {
  const auto& node = (*plan.model)[index];
  std::vector<Fact> facts;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto fact = plan.facts->of(node.inputs[i]);
    fact.shape = inputs[i].shape;
    if (node.version->reads.contains(static_cast<int>(i)) && inputs[i].value) fact.value = inputs[i].value;
    facts.push_back(std::move(fact));
  }
  if (facts.size() == node.inputs.size()) explain(d, *plan.model, node, facts);
  locate(d, *plan.model, *node.layer);
}

std::vector<Fact> infer_group(const Plan& plan, const Step& step, std::span<const Tensor> inputs) {
  std::vector<Fact> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto declared = plan.value(step.inputs[i]).declared;
    given.push_back(fact_of(declared == ElementType::dynamic ? inputs[i].type() : declared, inputs[i]));
  }
  Operands operands(plan, step, std::move(given), [](const Value& v) { return fact_of(v.declared, v.constant); });
  for (const auto index : step.nodes) {
    const auto facts = operands.of((*plan.model)[index]);
    auto outputs = at_node(plan, index, facts, [&] { return infer_now(plan, index, facts); });
    if (index == step.nodes.back()) return outputs;
    for (std::size_t o = 0; o < outputs.size(); ++o) operands.put({index, static_cast<int>(o)}, std::move(outputs[o]));
  }
  return {};
}

std::vector<Tensor> evaluate_group(const Plan& plan, const Step& step, std::span<const Tensor> inputs, EvalHost* host) {
  Operands operands(plan, step, std::vector<Tensor>(inputs.begin(), inputs.end()),
                    [](const Value& v) { return v.constant; });
  for (const auto index : step.nodes) {
    auto outputs = evaluate(plan, step, index, operands.of((*plan.model)[index]), host);
    if (index == step.nodes.back()) return outputs;
    for (std::size_t o = 0; o < outputs.size(); ++o) operands.put({index, static_cast<int>(o)}, std::move(outputs[o]));
  }
  return {};
}

}  // namespace ovir
