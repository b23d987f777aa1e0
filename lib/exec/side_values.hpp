// SideValues: what an observer wants and no step of the plan computes: nodes within a fused group, known values,
// outputs that nobody reads. Computed beside the run by the reference kernels, from what the steps have computed.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "exec/observer.hpp"
#include "plan/plan.hpp"

namespace ovir {

class SideValues {
 public:
  /// Tells the observer of node `index`: operands and results.
  using Tell = std::function<void(int index, std::span<const Tensor> in, std::span<Tensor> out)>;

  SideValues(const Plan& plan, Observer& observer);
  bool empty() const { return order_.empty(); }
  /// Whether after() is to be called for this node.
  bool wants(int node) const { return wanted_[node] != 0; }
  /// The outputs of a node's step, with those that it leaves out because nobody reads them.
  std::vector<Tensor> complete(int node, std::vector<Tensor> given);
  /// Whether a value of the plan must be handed over with come().
  bool needs(int value) const { return !readers_[value].empty(); }

  /// Begins a run: forgets the values of the last one.
  void begin();
  /// A value of the plan is there; computes what could not be computed before. The tensor must keep its bytes.
  void come(int value, const Tensor& tensor, const Tell& tell);

 private:
  struct Side {
    int node = 0;
    int missing = 0;  // inputs that have not come
    std::vector<Tensor> inputs;
    std::vector<Tensor> outputs;  // of a node that has a step
  };
  void compute(Side& side) const;

  const Plan& plan_;
  std::vector<char> wanted_, side_, has_step_;             // by node
  std::vector<Side> order_;                                // in topological order
  std::vector<std::vector<std::pair<int, int>>> readers_;  // by value: which of `order_`, and its input
};

}  // namespace ovir
