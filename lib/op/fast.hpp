// The seam of the fast tier: a kernel that may take the reference kernel's place at a node.
#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "op/eval_context.hpp"

namespace ovir {

/// A node as the plan sees it.
struct NodeView {
  const OpDef& op;
  const Version& version;
  const void* attrs;
  std::span<const Fact> inputs;  ///< as inferred: shapes may be partial, constants have values
  std::span<const Fact> outputs;
  bool repeated = false;  ///< many runs: time spent on preparing comes back
  template <class A>
  const A& as() const {
    return version.attrs.as<A>(attrs);
  }
};

/// Owns whatever it prepared: packed weights, primitives.
using Kernel = std::function<void(EvalContext&)>;

struct FastKernel {
  std::string_view type;  ///< operation type
  /// A kernel for this node, or an empty one where it does not apply.
  Kernel (*prepare)(const NodeView&) = nullptr;
};

}  // namespace ovir
