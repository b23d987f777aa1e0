// Session: runs a Plan. Holds the states; tells an observer of every value as it appears.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "op/eval_context.hpp"
#include "passes/plan.hpp"

namespace ovir {

/// A value that a step has just computed.
struct Observation {
  const Model& model;
  const Node& node;
  int port = 0;
  const Tensor& value;
  std::string path;                      ///< "loop1/body/", "" outside of bodies
  std::vector<std::int64_t> iterations;  ///< of the enclosing loops, outermost first
};
using Observer = std::function<void(const Observation&)>;

class Session {
 public:
  /// `repeated`: run() will be called again, so what follows from constants alone is kept.
  explicit Session(std::shared_ptr<const Plan> plan, bool repeated = false);
  ~Session();
  Session(Session&&) noexcept;
  /// Inputs by Parameter in file order, of the declared or the exchanged type, checked against the model (E0703,
  /// E0704). Gives the results in file order, in their exchanged types. A Failure says which layer it was.
  std::vector<Tensor> run(std::span<const Tensor> inputs, const Observer& observer = {});
  States& states();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ovir
