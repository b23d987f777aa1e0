// DynamicStep: a step whose shapes only the run tells. Mostly those of the last run come again, so what inference said
// of them, and what a kernel has prepared, is kept.
#pragma once
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "op/fact.hpp"
#include "plan/plan.hpp"

namespace ovir {

class DynamicStep {
 public:
  /// What is known of a call with operands of these shapes.
  struct Call {
    std::vector<Shape> shapes;   ///< by operand
    std::vector<Tensor> values;  ///< by operand whose value inference reads, in order
    std::vector<Fact> outputs;
    i64 work = 0;        ///< elementary steps by the reference kernels
    bool asked = false;  ///< the kernel was asked to prepare for these sizes
    std::unique_ptr<KernelState> state;
  };

  DynamicStep(const Plan& plan, const Step& step);

  /// Infers, unless an earlier call with such operands is known. The reference is good until the next call. Throws as
  /// infer_group does.
  Call& infer(std::span<const Tensor> inputs);
  /// Asks the step's kernel to prepare for a call, unless it was asked before.
  void prepare(Call& call, const Sizes& sizes, Runtime& runtime) const;

 private:
  /// Whether what is kept of a call holds for this value of an operand alone: it is constant, or compared.
  bool decides(i64 operand) const;
  bool is_same(const Call& call, std::span<const Tensor> inputs) const;

  const Plan& plan_;
  const Step& step_;
  std::vector<i64> read_;   // operands whose values decide, too
  bool keeps_ = true;       // inference depends on no more than that
  std::list<Call> recent_;  // the latest first
};

}  // namespace ovir
