// The reference kernels of a step's nodes on tensors, with shapes inferred from them.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "diag/diagnostic.hpp"
#include "op/eval_context.hpp"
#include "plan/plan.hpp"

namespace ovir {

/// Completes a fault of a node with the layer and what reached it, as `check` does: with the shapes of this call, and
/// the values that inference reads. A fault that has its layer (one in a body) stays as it is.
void complete(Diagnostic& d, const Plan& plan, int node, std::span<const Fact> inputs);

using NodeFacts = std::function<void(const Node& node, std::span<const Fact> inputs, std::span<const Fact> outputs)>;

/// Types, shapes and values of a step's inputs.
std::vector<Fact> facts_of_inputs(const Plan& plan, const Step& step, std::span<const Tensor> inputs);

/// What inference says of the outputs of a step whose inputs have these facts. Throws the Failures of the operations'
/// own demands, each complete with the node of the group that makes it. `tell` hears of every node, but of those within
/// the group that follow from constants alone.
std::vector<Fact> infer_group(const Plan& plan, const Step& step, std::vector<Fact> inputs, const NodeFacts& tell);

/// The outputs of a step, by the reference kernels of its nodes. Their elementary steps are spent, and added to `work`.
std::vector<Tensor> evaluate_group(const Plan& plan, const Step& step, std::span<const Tensor> inputs, EvalHost* host,
                                   i64& work);

/// The same of a step of one node whose operands are all among the inputs, with what inference says of the outputs.
std::vector<Tensor> evaluate_node(const Plan& plan, const Step& step, const std::vector<Tensor>& inputs,
                                  const std::vector<Fact>& outputs, EvalHost* host);

/// Later steps were planned for what was inferred, which data may break: an axis of Squeeze that is longer than 1.
[[noreturn]] void fail_shape(const std::string& inferred, const Shape& shape);

}  // namespace ovir
