// Operands of attention that are read where they lie: through Transposes, and as parts of what a Split divides.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "plan/pattern.hpp"

namespace ovir::fast {

/// Where batch, heads, rows and columns of an operand are in a tensor of rank `rank`, or of one less: the first axis is
/// then 1. Of more, the first axes are one.
struct HeadAxes {
  std::array<i64, 4> axes{0, 1, 2, 3};
  i64 rank = 4;
  i64 part_axis = -1;         ///< of which only some places belong to the operand; -1: it is the whole tensor
  i64 first = 0, length = 0;  ///< those

  /// The operand's length along an axis of the tensor.
  i64 dim(const View& v, i64 axis) const;
  /// Whether a tensor may be read so.
  bool fits(const View& v) const;
};
inline constexpr HeadAxes kHeadsInside{.axes = {0, 2, 1, 3}};

/// Batch, heads, rows and columns.
struct HeadDims {
  i64 batch, heads, rows, columns;

  HeadDims(const View& v, const HeadAxes& a)
      : batch(a.dim(v, a.axes[0])),
        heads(a.dim(v, a.axes[1])),
        rows(a.dim(v, a.axes[2])),
        columns(a.dim(v, a.axes[3])) {}
};

/// An operand as `user` reads it.
struct HeadOperand {
  ValueRef value;
  int user;
  bool columns_inside;  ///< they must lie side by side; else these or the rows
  HeadAxes axes{};
};

/// The order of a Transpose of rank 4 by a constant.
std::optional<std::array<i64, 4>> order_of(const Graphlet& graph, int node);

/// Reads what the Transpose behind a value reads, where a kernel can.
void take_transpose(const Graphlet& graph, HeadOperand& operand, std::vector<int>& nodes);

/// Reads what a Split reads, or a Transpose before it, where all its parts are such operands: queries, keys and values
/// that one product gives.
void take_parts(const Graphlet& graph, std::array<HeadOperand, 3>& operands, std::vector<int>& nodes);

}  // namespace ovir::fast
