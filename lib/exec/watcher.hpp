// Watcher: tells an observer what a run computes, and what lies beside it (side_values.hpp).
#pragma once
#include <chrono>
#include <span>
#include <string_view>
#include <vector>

#include "exec/executor.hpp"

namespace ovir {

class Watcher {
 public:
  Watcher(const Plan& plan, RunContext& context, const Sized& sized, SideValues& side, std::span<const i64> iterations)
      : plan_(plan), context_(context), sized_(sized), side_(side), iterations_(iterations) {}

  /// Tells of the values that are given: Parameters and Constants.
  void begin();
  /// Tells of the Results.
  void end();

  /// A step is about to compute node `index`, whose outputs are empty. Throws StoppedByObserver.
  void announce(int index, std::span<const Tensor> in, std::string_view kernel);
  /// Node `index` has been computed; the observer may put other tensors in `out`. Throws StoppedByObserver.
  void tell(int index, std::span<const Tensor> in, std::span<Tensor> out, std::string_view kernel,
            std::chrono::nanoseconds took);

  /// See SideValues.
  std::vector<Tensor> complete(int node, std::vector<Tensor> given) { return side_.complete(node, std::move(given)); }
  bool wants(int node) const { return side_.wants(node); }
  bool needs(int value) const { return side_.needs(value); }
  void come(int value, const Tensor& tensor);

 private:
  std::vector<ElementType> declared_types(int index) const;

  const Plan& plan_;
  RunContext& context_;
  const Sized& sized_;
  SideValues& side_;
  std::span<const i64> iterations_;
};

}  // namespace ovir
