// The kernel of GroupNormalization, and of InstanceNorm, whose groups are single channels. Its form serves the
// normalization of pixels, too.
#pragma once
#include <string>

#include "fast/kit/functions.hpp"
#include "fast/kit/moments.hpp"

namespace ovir::fast {

struct GroupNormalizationForm {
  std::string name;
  i64 groups;
  float epsilon;
  bool blocked;  ///< blocks and groups fit into each other
  /// What comes, or goes, is [batch][…][channels], of values that may be blocked.
  bool reads_rows = false, writes_rows = false;
  Buffer weight, bias;  ///< by channel; empty: operands 1 and 2
  Unary activation{};

  /// Of values of this shape.
  GroupNormalizationForm(std::string_view name, i64 groups, double epsilon, const PartialShape& shape);
  /// Those of a normalization of values of `rank`, by channel along `axis`, or so many axes from it on; false where
  /// they are others.
  bool set_factors(const Graphlet& graph, const MomentsNormalization& found, i64 rank, i64 channels, i64 axis = 1,
                   i64 axes = 1);
  /// What follows the last of `match.nodes`: factors and offsets by channel.
  void take_factors(const Graphlet& graph, Match& match, i64 rank, i64 channels);
  void take_offsets(const Graphlet& graph, Match& match, i64 rank, i64 channels);
  void take_activation(const Graphlet& graph, Match& match);
};

/// Whether axes, in order, are all but the first two.
bool are_of_plane(const std::vector<i64>& axes, i64 rank);
/// Whether an MVN divides by √(variance + ε), of all axes but the first two.
bool is_over_planes(const Graphlet& graph, int mvn);

/// Of operand 0: f32, or bf16 where it is blocked.
std::unique_ptr<const Kernel> make_group_normalization(GroupNormalizationForm form);

}  // namespace ovir::fast
