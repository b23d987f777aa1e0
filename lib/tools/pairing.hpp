// Pairs: which layer of one graph is which of another, an edited version of it.
#pragma once
#include <vector>

#include "model/model.hpp"

namespace ovir::tools {

/// By node: its counterpart, or -1.
struct Pairs {
  std::vector<int> of_first, of_second;
};

/// Layers with one name and type are the same, then those whose inputs are the same, or that the same layer takes at
/// the same input; names that end in a number, which converters make up, count after that, and then names alone.
/// Bodies are not looked into. Unlike the alignment of two conversions (tools/align), faulty models and Constants are
/// paired as well, and values are not asked.
Pairs pair_layers(const Model& first, const Model& second);

}  // namespace ovir::tools
