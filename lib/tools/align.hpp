// Alignment: which layer of one model is which of another, as of a model and its conversion to f16 or int8.
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
  std::map<const Node*, Target> to_first;            ///< from the nodes of the second model, bodies included
  std::vector<std::string> only_first, only_second;  ///< names of layers without a counterpart

  /// All of them, for messages.
  std::vector<std::string> unmatched_names() const;
};

Alignment align(const Model& first, const Model& second);

/// Values of the second model as values of the first.
Reference moved(const Reference& values, const Alignment& alignment);

}  // namespace ovir::tools
