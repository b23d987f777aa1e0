// Steps of formulas that models spell out node by node, for the patterns that find them.
#pragma once
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/pattern.hpp"

namespace ovir::fast {

inline bool same(ValueRef a, ValueRef b) { return a.node == b.node && a.port == b.port; }

/// A constant of one number, in f32.
std::optional<float> number(const Graphlet& graph, ValueRef v);
/// One of one integer.
std::optional<i64> whole_number(const Graphlet& graph, ValueRef v);

/// The only reader of a node's value, where it is of this type; which of its inputs the value is.
std::optional<std::pair<int, int>> followed_by(const Graphlet& graph, int node, std::string_view type);

/// 1 / √value: Sqrt and a Divide of 1, a Power of -1/2, or Sqrt alone where the next node divides by it.
struct InverseRoot {
  std::vector<int> nodes;
  bool divides = false;
};
std::optional<InverseRoot> inverse_root_after(const Graphlet& graph, int node);

}  // namespace ovir::fast
