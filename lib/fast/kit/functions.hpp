// Operations of one f32 value as the loops compute them, and what may follow a product or a convolution.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fast/kernels/buffer.hpp"
#include "fast/kernels/epilogue.hpp"
#include "fast/kernels/weights.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast {

/// The function that a node applies to its first input, where the loops have it and its parameters are constants.
std::optional<Unary> function_of(const Graphlet& graph, int node);

/// Where a value of `rank` has its channels, `count` of them; several neighboring axes may be all of them.
struct ChannelAxis {
  i64 rank, axis, count, axes = 1;
};

/// A function of a value, in one node or spelled out in several: x · g(x) in two, or x or x · slope, whichever a
/// comparison chooses, in three.
struct Activation {
  Unary function;
  std::vector<int> nodes;          ///< in topological order; the last one gives the result
  std::string name;                ///< "+Relu"
  const Tensor* slopes = nullptr;  ///< of prelu, by channel; null: function.a is the only one
};
/// The activation that reads the value of `node`; nothing where others read it, too. `channels`: those of the value,
/// where slopes may be by channel.
std::optional<Activation> activation_after(const Graphlet& graph, int node,
                                           std::optional<ChannelAxis> channels = std::nullopt);

/// Whether a value is f32 between steps.
bool is_f32(const Graphlet& graph, ValueRef v);

/// Whether no element of a value is less than 0, as far as the node that computes it says.
bool is_positive(const Graphlet& graph, ValueRef v);

/// Whether a node only gives its first input another shape, which is known beforehand.
bool is_view(const Graphlet& graph, int node);

/// Whether two dims, or all those of two shapes, are the same lengths in every run, as far as inference knows.
bool is_same(const Dim& a, const Dim& b);
bool is_same(const PartialShape& a, const PartialShape& b);

/// Whether a computed value that is added to a product can be its residual: both f32 of the same static shape, so that
/// neither is repeated.
bool is_residual(const Graphlet& graph, ValueRef product, ValueRef other);

/// Axes that a constant of i32 or i64 gives, counted from the front; nothing where it is none.
std::optional<std::vector<i64>> constant_axes(const Graphlet& graph, ValueRef v, i64 rank);

/// Adds to the operands those inputs, from `first` on, that only the run knows, but what the match computes itself:
/// sizes follow from them.
void add_computed_inputs(const Graphlet& graph, int node, int first, Match& match);

/// A constant of one number a channel, laid out along `axis` of an operand of rank `rank`, or along so many axes from
/// it on; null otherwise.
const Tensor* per_channel(const Graphlet& graph, ValueRef v, i64 rank, i64 axis, i64 channels, i64 axes = 1);

/// The numbers by channel of a constant of one number or of one a channel; empty where it is something else.
std::vector<float> by_channel(const Graphlet& graph, ValueRef v, i64 rank, i64 axis, i64 channels, i64 axes = 1);

/// The numbers that the next node multiplies, or adds, by channel, the second axis of `rank`, to the last of
/// `match.nodes`, which it joins; all `otherwise` where none does.
Buffer take_by_channel(const Graphlet& graph, Match& match, std::string_view type, i64 rank, i64 channels,
                       float otherwise);

/// Numbers by channel, and zeros up to whole panels.
Buffer padded(std::span<const float> values);

/// The right operand of a MatMul where it is one constant f32 matrix of [k, n]; (i, j) at data()[i · row + j · column].
struct ConstantMatrix {
  Tensor tensor;
  i64 row, column, k, n;
  const float* data() const { return tensor.data<float>(); }
  ConstantMatrix apart() const { return {tensor.apart(), row, column, k, n}; }
};
/// Nothing where the left operand is transposed, is not f32 or may have a lower rank.
std::optional<ConstantMatrix> constant_matrix(const Graphlet& graph, int matmul);

/// Where the weights file has an f32 value that is constant, or is but widened. Empty: nowhere.
WeightsFile file_of(const Graphlet& graph, ValueRef v);

/// f32 weights where they lie or, in a file, where they are read from.
class StoredWeights {
 public:
  StoredWeights() = default;
  explicit StoredWeights(Tensor values, WeightsFile file = {}) : values_(std::move(values)), file_(std::move(file)) {}

  bool is_read() const { return static_cast<bool>(file_); }
  const float* data() const { return values_.data<float>(); }
  /// Floats [first, first + count): in `to` where they are read. Throws Failure (E0302).
  const float* get(i64 first, i64 count, float* to) const {
    return (is_read() ? Weights(file_, to) : Weights(data())).get(first, count, to);
  }

 private:
  Tensor values_;
  WeightsFile file_;
};

/// What is computed with a product or a convolution as it is stored: a bias, a residual, an activation.
struct Ending {
  Buffer bias, slopes;  ///< by channel, padded to whole panels; empty: none
  Unary activation{};
  int residual = -1;  ///< the operand that is added; -1: none
  bool residual_last = false;
  /// Whether the output may lie where this input lies: where the residual is added as a tile is stored, not where it is
  /// read again after the activation.
  bool writes_over(int input) const {
    return residual >= 0 && input == residual && !(residual_last && activation.f != Function::identity);
  }
  std::string name;  ///< "+bias+relu"

  /// `residual_data` is laid out as the output.
  Epilogue epilogue(const float* residual_data) const {
    return {.bias = bias.data(),
            .activation = activation,
            .slopes = slopes.data(),
            .residual = residual_data,
            .residual_last = residual_last};
  }
};

/// Follows the only users of the last of `match.nodes` as far as they can be computed with it. `axis` of its output, of
/// rank `rank`, are the channels, `channels` of them. A residual becomes an operand of the match. Views are taken where
/// something is computed behind them, the channels of images only where they stay axis 1. `begun`: what is computed
/// with it already, a bias at most.
Ending take_ending(const Graphlet& graph, Match& match, i64 rank, i64 axis, i64 channels, Ending begun = {});

}  // namespace ovir::fast
