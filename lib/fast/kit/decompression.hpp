// Compressed weights: how models spell out that a constant of 4 or 8 bits stands for floats.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "fast/isa/codes.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast {

/// Goes from a value that `user` reads back to what it is computed from, through nodes whose f32 nobody else reads.
class WayBack {
 public:
  /// `shared`: others than `user` may read `value`, though none of the values before.
  WayBack(const Graphlet& graph, ValueRef value, int user, bool shared = false)
      : graph_(graph), at_(value), user_(user), shared_(shared) {}

  ValueRef at() const { return at_; }
  /// The node before is of this type, and only this way reads what it computes, which is stored as `stored`.
  bool is(std::string_view type, ElementType stored = ElementType::f32) const;
  /// Takes that node, goes on to one of its inputs, and returns the node.
  int take(int input);
  /// The constant that a Multiply scales by, whose other operand it goes on to; node < 0 where there is none.
  ValueRef take_scale();
  /// What it went through, in topological order.
  std::vector<int> nodes() const { return {nodes_.rbegin(), nodes_.rend()}; }

 private:
  const Graphlet& graph_;
  ValueRef at_;
  int user_;
  bool shared_;
  std::vector<int> nodes_;
};

/// (codes - zero) · scale: Convert, Subtract, Multiply, then a Reshape to the matrices and a Convert where there are
/// any; or, without zero points, what Gather picks by codes of u4 from a codebook of 16 numbers. Each zero point and
/// each scale belongs to `group` neighboring codes of a row, or to all codes.
struct Decompression {
  std::vector<int> nodes;         ///< in order
  bool shared = false;            ///< several operations read what they compute, all of them by its codes
  const Tensor* codes = nullptr;  ///< packed, or of 8 bits
  CodeKind kind{};
  std::array<float, 16> levels{};  ///< of a kind that has them
  ValueRef zero, scale;            ///< f32 between steps; zero.node < 0 where there is none
  bool one_zero = false, one_scale = false;
  Shape dims;  ///< of all of it; the last two are those of a matrix
  i64 group = 0;
  /// As kernels read them: those of 2 or 3 bits become such of 4.
  Tensor codes_to_read() const;
  i64 rows() const { return dims[dims.rank() - 2]; }
  i64 columns() const { return dims.back(); }
};

/// Of the right operand of a MatMul that is transposed, or of the rows of a matrix that a Gather picks: for these there
/// are kernels that read the codes.
std::optional<Decompression> compressed_weights(const Graphlet& graph, int node);

}  // namespace ovir::fast
