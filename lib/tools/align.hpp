// Alignment: which layer of one model is which of another, as of a model and its conversion to f16 or int8: by names,
// then by structure (labels in the manner of Weisfeiler and Lehman, from type, attributes, neighbors, and the values of
// constants as f16), then by what the layers compute for the same inputs.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "model/model.hpp"
#include "tools/reference.hpp"

namespace ovir::tools {

struct Alignment {
  struct Target {
    const Model* model;
    int node;
  };
  std::map<const Node*, Target> to_first;       ///< from the nodes of the second model, bodies included
  std::vector<Target> only_first, only_second;  ///< layers without a counterpart, without constants
};

/// By names and structure.
Alignment align(const Model& first, const Model& second);
/// Adds pairs that compute nearly the same: of the same type, each the other's best match.
void align_by_values(Alignment& alignment, const Reference& first, const Reference& second);

/// Values of the second model as values of the first.
Reference moved(const Reference& values, const Alignment& alignment);

}  // namespace ovir::tools
