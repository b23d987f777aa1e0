// Convolutions in bf16 as patterns take them: alone, or three as an inverted residual.
#pragma once
#include <functional>

#include "fast/kit/convolution_sum.hpp"

namespace ovir::fast {

/// A Convolution-1 or GroupConvolution-1, with the branches beside it, or a ConvolutionBackpropData-1 that
/// bf16_transposed takes, with constant filters and what follows it.
struct Bf16Layer {
  ConvolutionWindows windows;
  ConvolutionShape shape;
  std::function<StoredWeights()> filters;  ///< as long as the Graphlet is there: sums are computed by each call
  ConvolutionSum::Origin origin;           ///< of what filters() gives
  Ending ending;
  std::vector<int> nodes;
  std::vector<ValueRef> inputs;
  std::size_t shared;            ///< see Match
  std::optional<Shape> written;  ///< see Match
  bool once;                     ///< the plan runs once
  const Graphlet* graph;
  bool transposed = false;
};
std::optional<Bf16Layer> bf16_layer(const Graphlet& graph, int root);

std::unique_ptr<const Kernel> bf16_kernel(Bf16Layer layer);
/// Inputs: the expansion's, then those of the projection beyond its first.
std::unique_ptr<const Kernel> bf16_kernel(Bf16Layer expansion, Bf16Layer depthwise, Bf16Layer projection);

}  // namespace ovir::fast
