// Operands of attention that are read where they lie: through Transposes, and as parts of another value.
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "plan/pattern.hpp"

namespace ovir::fast {

/// Batch, heads, rows and columns of an operand in a tensor of so many elements.
struct HeadPlaces {
  std::array<i64, 4> lengths{}, strides{};
  i64 offset = 0, size = 0;
};

/// Where batch, heads, rows and columns of an operand are in a tensor of rank `rank`. Of more, those from `joined` on
/// are one axis; of one less, that axis is 1.
struct HeadAxes {
  std::array<i64, 4> axes{0, 1, 2, 3};
  i64 rank = 4;
  i64 joined = 0;
  i64 part_axis = -1;                  ///< of which only some places belong to the operand; -1: it is the whole tensor
  i64 first = 0, length = 0;           ///< those
  std::optional<HeadPlaces> places{};  ///< instead of all this

  /// The operand's length along an axis of the tensor.
  i64 dim(const View& v, i64 axis) const;
  /// That of batch, heads, rows or columns.
  i64 length_of(const View& v, std::size_t which) const {
    return places ? places->lengths[which] : dim(v, axes[which]);
  }
  /// Whether a tensor may be read so.
  bool fits(const View& v) const;
};

/// So many axes of scores are heads and queries; the last one is the keys, those before are the batch.
struct ScoreAxes {
  i64 heads = 1, queries = 1;
  /// Whether heads are the third axis from behind.
  bool are_single() const { return heads == 1 && queries == 1; }
};

/// Batch, heads, rows and columns.
struct HeadDims {
  i64 batch, heads, rows, columns;

  HeadDims(const View& v, const HeadAxes& a)
      : batch(a.length_of(v, 0)), heads(a.length_of(v, 1)), rows(a.length_of(v, 2)), columns(a.length_of(v, 3)) {}
  /// Of a mask of such scores.
  HeadDims(const View& mask, const ScoreAxes& a);
};

/// An operand as `user` reads it.
struct HeadOperand {
  ValueRef value;
  int user;
  bool columns_inside;  ///< they must lie side by side; else these or the rows
  HeadAxes axes{};
  /// Of [batch, heads, rows, columns] before they are joined to [batch · heads, rows, columns]: the value is that of
  /// the Reshape which joins them, and counts as if it left them apart.
  std::optional<PartialShape> apart{};
};

/// Whether columns lie side by side where they must, or rows.
bool are_inside(const HeadAxes& a, bool columns);

/// Nodes on the way to operands that are taken with them, each once.
class HeadWay {
 public:
  void add(int node) {
    if (std::find(nodes_.begin(), nodes_.end(), node) == nodes_.end()) nodes_.push_back(node);
  }
  void add(const HeadWay& other) {
    for (const auto node : other.nodes_) add(node);
  }
  int last() const { return nodes_.back(); }
  /// In topological order.
  std::vector<int> sorted() const;

 private:
  std::vector<int> nodes_;
};

/// The order of a Transpose of rank `rank` by a constant; empty where it is none.
std::vector<i64> order_of(const Graphlet& graph, int node, i64 rank = 4);

/// What a node multiplies `of` by: one number for all, or one a head.
struct Factors {
  std::vector<float> numbers;
  ValueRef of;
};
/// Of a Multiply or Divide by constants; nothing of other nodes.
std::optional<Factors> factors_of(const Graphlet& graph, int node);

/// Whether heads of the one are those of the other, with batch and heads joined.
bool joins(const PartialShape& apart, const PartialShape& joined);

/// An operand of a product of joined heads, whose scores, or results, have this batch and these heads; nothing where no
/// Reshape that nobody else reads joins them.
std::optional<HeadOperand> joined_operand(const Graphlet& graph, ValueRef v, int user, bool columns_inside, Dim batch,
                                          Dim heads);

/// Rows and columns of heads that are transposed, for which exporters to ONNX join batch and heads: before Reshape and
/// Transpose, behind the Reshape that joins them.
struct JoinedOperand {
  HeadOperand operand;
  HeadWay way;
};
std::optional<JoinedOperand> before_joined(const Graphlet& graph, const HeadOperand& operand);

/// Heads of keys or values that are repeated for those of queries: Unsqueeze, Broadcast or Tile, Reshape.
struct Repetition {
  HeadWay way;
  HeadOperand from;        ///< what is repeated
  bool rows_known = true;  ///< that they are as many as before
};
std::optional<Repetition> repetition_of(const Graphlet& graph, const HeadOperand& operand);

/// Reads what the Transposes behind a value read, where a kernel can, and, where there is a `factor` for them to be
/// multiplied to, what is multiplied by single numbers on the way.
void take_way(const Graphlet& graph, HeadOperand& operand, HeadWay& way, float* factor = nullptr);

/// Reads what a Split reads, or Slices, or Gathers of one place, or a Transpose before them, where all of these parts
/// are such operands: queries, keys and values that one product gives.
void take_parts(const Graphlet& graph, std::array<HeadOperand, 3>& operands, HeadWay& way);

}  // namespace ovir::fast
