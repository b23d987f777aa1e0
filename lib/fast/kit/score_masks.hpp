// What hides scores of an attention, or is added to them, as models spell it out between their product and the Softmax.
#pragma once
#include <limits>
#include <optional>
#include <vector>

#include "plan/pattern.hpp"

namespace ovir::fast {

/// Whether v is a value that only `user` reads, of a node that may be taken.
bool is_inner(const Graphlet& graph, ValueRef v, int user);
/// Or only these.
bool is_inner(const Graphlet& graph, ValueRef v, const std::vector<int>& users);
/// Whether a node is an Add that broadcasts as NumPy does.
bool adds(const Graphlet& graph, int node);

/// How booleans say which keys are hidden, and what their scores are.
struct HiddenKeys {
  bool where_true = false;
  float score = -std::numeric_limits<float>::infinity();
};

/// Scores of which a Select hides some: masked_fill, or where.
struct Masked {
  ValueRef mask, scores;
  HiddenKeys hidden;
  std::vector<int> nodes;  ///< the Select, and what makes the mask as large as the scores
};
/// Where v, which only `users` read, is of a Select.
std::optional<Masked> masked_scores(const Graphlet& graph, ValueRef v, const std::vector<int>& users);

/// What constants add to scores, at last, as those of windows that are shifted have it: a bias, then masks behind a
/// Reshape that splits the windows off, and one that undoes it. Windows to which the same is added share their sums.
struct AddedConstants {
  std::vector<int> nodes;   ///< from the last one backwards
  std::vector<float> sums;  ///< [kind][heads, queries, keys]
  std::vector<i64> kinds;   ///< of each batch, whose axes are all before those
  ValueRef from;
};

/// Where v, which only `users` read, is of a Reshape that joins windows again.
std::optional<AddedConstants> added_constants(const Graphlet& graph, ValueRef v, const std::vector<int>& users);

/// What is added to scores of keys that lie in a grid, as of images: numbers by row, [batch, heads, queries, rows], and
/// by column, whatever their shapes are.
struct AddedGrid {
  std::vector<int> nodes;  ///< from the last one backwards
  ValueRef by_row, by_column;
  i64 columns = 0;
  ValueRef from{};  ///< the scores
};
/// Where v, which only `users` read, is of a Reshape behind two Adds, which joins the axes of the grid again.
std::optional<AddedGrid> added_grid(const Graphlet& graph, ValueRef v, const std::vector<int>& users);
/// The same, without scores, of a mask that is the sum of both.
std::optional<AddedGrid> grid_mask(const Graphlet& graph, ValueRef mask, int user);

}  // namespace ovir::fast
