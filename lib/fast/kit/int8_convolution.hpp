// Convolutions of levels by integers as patterns take them: alone, or three as an inverted residual.
#pragma once
#include "fast/kit/convolutions.hpp"
#include "fast/kit/int8_ending.hpp"

namespace ovir::fast {

/// A Convolution-1 or GroupConvolution-1 of quantized values by quantized weights, or an AvgPool of such values, with
/// what follows it.
struct U8Layer {
  ConvolutionWindows windows;
  ConvolutionShape shape;
  I8Weights weights;
  Levels in;
  std::vector<std::uint8_t> pads;  ///< the levels around planes: one, or, of a depthwise convolution, one by channel
  U8Ending ending;
  std::vector<int> nodes;
  std::vector<ValueRef> inputs;
  bool often;     ///< many runs make up for the time that it takes to pack weights
  bool winograd;  ///< and for larger ones
  bool averages;  ///< an AvgPool
  const Graphlet* graph;

  /// Weights of an output.
  i64 each() const { return shape.group_channels() * shape.taps(); }
};
std::optional<U8Layer> u8_layer(const Graphlet& graph, int root);

/// The nodes before such a convolution that compute its weights from integers: it reads the integers themselves.
std::vector<int> u8_weights_nodes(const Graphlet& graph, int root);

std::unique_ptr<const Kernel> u8_kernel(U8Layer layer);
/// Inputs: the expansion's, then those of the projection beyond its first. The expansion and the depthwise convolution
/// give levels, without a residual.
std::unique_ptr<const Kernel> u8_kernel(U8Layer expansion, U8Layer depthwise, U8Layer projection);

}  // namespace ovir::fast
