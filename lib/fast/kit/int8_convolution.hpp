// Convolutions of levels by integers as patterns take them: alone, or three as an inverted residual.
#pragma once
#include <limits>

#include "fast/kernels/convolution/shape.hpp"
#include "fast/kit/levels.hpp"
#include "op/kit/window.hpp"

namespace ovir::fast {

struct Bounds {
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
  friend bool operator==(const Bounds&, const Bounds&) = default;
  /// In levels, which end at 0 and the last one.
  Bounds in(const Levels& levels, i64 channel) const;
};

/// What follows the sums: bias, bounds or another activation, FakeQuantize; then another summand, bounds, FakeQuantize. Or bias, bounds,
/// MaxPool, FakeQuantize: the maximum is then that of levels.
struct U8Ending {
  const Tensor* bias = nullptr;
  Bounds bounds, sum_bounds;
  Unary activation{};
  const Tensor* slopes = nullptr;                   ///< of PRelu by channel
  bool adds = false;                                ///< operand 1
  std::optional<Levels> levels, other, sum_levels;  ///< `other` of operand 1, where it is not f32
  std::optional<ConvolutionShape> pool;
  std::string name;
  const Levels* result() const { return sum_levels ? &*sum_levels : (levels && !adds ? &*levels : nullptr); }
};

/// A Convolution-1 of one group or a depthwise GroupConvolution-1 of quantized values by quantized weights, with what
/// follows it.
struct U8Layer {
  ConvolutionAttrs attrs;
  ConvolutionShape shape;
  I8Weights weights;
  Levels in;
  std::uint8_t pad;  ///< the level around a plane
  U8Ending ending;
  std::vector<int> nodes;
  std::vector<ValueRef> inputs;
  bool winograd;  ///< many runs make up for its larger weights
};
std::optional<U8Layer> u8_layer(const Graphlet& graph, int root);

/// The nodes before such a convolution that compute its weights from integers: it reads the integers themselves.
std::vector<int> u8_weights_nodes(const Graphlet& graph, int root);

std::unique_ptr<const Kernel> u8_kernel(U8Layer layer);
/// Inputs: the expansion's, then those of the projection beyond its first. The expansion and the depthwise convolution
/// give levels, without a residual.
std::unique_ptr<const Kernel> u8_kernel(U8Layer expansion, U8Layer depthwise, U8Layer projection);

}  // namespace ovir::fast
