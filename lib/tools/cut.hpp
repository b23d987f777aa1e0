// Cut: where a part of a model is cut out, and how selected layers say it.
#pragma once
#include <utility>
#include <vector>

#include "model/model.hpp"
#include "tools/select.hpp"

namespace ovir::tools {

/// All that `outputs` need, up to `inputs`, `frozen` and the part's own Parameters. The values are those of `part`,
/// which is the whole model or a body within it.
struct Cut {
  const Model* part = nullptr;
  std::vector<ValueRef> inputs;                     ///< become Parameters, in front of those that the part has
  std::vector<std::pair<ValueRef, Tensor>> frozen;  ///< become Constants of these values
  std::vector<ValueRef> outputs;                    ///< keep their Results, or get one, behind the others
};

/// The cut around layers of one part. What they receive from others becomes an input; what depends on Constants alone
/// comes along, and what `facts`, those of the whole model, know the value of is frozen. What others take from them, or
/// nobody takes, becomes an output. Throws SelectorError where the layers lie in several parts.
Cut around(const std::vector<Selected>& selected, const Model& whole, const Facts& facts);

enum class End { inputs, outputs };
/// The values that selected layers compute; at the end of outputs a Result or Assign stands for the value that it
/// receives. They must lie in `part`; where it is null, the first layer sets it. Throws SelectorError where they lie
/// elsewhere, a layer has no value, or an iteration is picked.
std::vector<ValueRef> values_of(const std::vector<Selected>& layers, End end, const Model*& part);

/// The values that the Results of `part` receive.
std::vector<ValueRef> results_of(const Model& part);

/// The facts of `part`, which is `whole` or a body within it; null where it was not inferred.
const Facts* facts_of(const Model& whole, const Facts& facts, const Model& part);

}  // namespace ovir::tools
