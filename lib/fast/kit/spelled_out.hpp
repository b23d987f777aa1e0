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

/// x where a node computes its square: a Power of 2, or a Multiply of x by itself.
std::optional<ValueRef> squared_by(const Graphlet& graph, int node);

/// A mean, as ReduceMean or as ReduceSum by the number of terms.
struct MeanNodes {
  std::vector<int> nodes;  ///< the last one gives it
  std::vector<i64> axes;   ///< in order
};
std::optional<MeanNodes> mean_from(const Graphlet& graph, int reduction);

/// The nodes behind a value that lay it as `shape` is, which has no more but axes of length 1: none, or a Reshape,
/// Unsqueeze or Broadcast that alone reads it. Nothing where it becomes something else.
std::optional<std::vector<int>> laid_as(const Graphlet& graph, int node, const PartialShape& shape);

/// 1 / √value: Sqrt and a Divide of 1, a Power of -1/2, or Sqrt alone where the next node divides by it.
struct InverseRoot {
  std::vector<int> nodes;
  bool divides = false;
};
std::optional<InverseRoot> inverse_root_after(const Graphlet& graph, int node);

}  // namespace ovir::fast
