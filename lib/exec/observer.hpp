// Observer: sees every value of a run as it appears. The plan does not depend on who watches: what a fusion swallowed,
// or nobody needed, is computed beside the run by the reference kernels when an observer wants it.
#pragma once
#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

#include "model/model.hpp"

namespace ovir {

/// What a node has just computed. References hold during the call only.
struct Event {
  const Model& model;  ///< of the node: `path` says which body
  int index;           ///< of the node, in `model`
  const Node& node;
  std::span<const i64> iterations;  ///< of the enclosing loops, outermost first
  /// By input; empty for Parameters and Constants. Those of the whole group where a fusion took the node.
  std::span<const Tensor> inputs;
  /// By output; empty tensors where an output was not computed. A tensor of the same type and shape that is put here
  /// takes the place of what was computed.
  std::span<Tensor> outputs;
  std::span<const ElementType> declared;  ///< the outputs' element types as inferred; they may be kept in others
  std::string_view kernel;                ///< "reference", or the name of the fast kernel; empty for given values
  std::chrono::nanoseconds took;          ///< of the kernel; 0 for given values
};

enum class Verdict : std::uint8_t { go_on, stop };

class Observer {
 public:
  virtual ~Observer() = default;
  /// Asked once a node at the beginning of a run. What nobody wants is not computed for its own sake.
  virtual bool wants(const Model& /*model*/, int /*node*/) { return true; }
  /// Called before a step computes such a node, with empty outputs; not for given values, and not where a fusion took
  /// the node. So what a kernel refuses can be looked at as well.
  virtual Verdict before(const Event& /*event*/) { return Verdict::go_on; }
  /// Called in the thread of Session::run, in an order in which inputs come before what is computed from them.
  virtual Verdict after(Event& event) = 0;
};

}  // namespace ovir
