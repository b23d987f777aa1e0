// Dilated convolutions as TensorFlow spells them: SpaceToBatch makes images of their own of the pixels that lie apart,
// these are convolved without dilation, and BatchToSpace puts the results where they belong. Along one axis there are
// views between, because such a convolution is that of a plane.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "op/kit/window.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast {

struct ConvolutionInBatches {
  std::vector<int> nodes;  ///< in order, from SpaceToBatch to BatchToSpace
  std::size_t shared;      ///< see Match: others may convolve the same images
  i64 ones;                ///< axes of length 1 before the spatial ones that only the convolution itself has
  ConvolutionAttrs attrs;  ///< those of the dilated convolution, along the other axes
};

/// What the nodes around a convolution make of it; nothing where they are others. `kernel`: spatial axes of its
/// filters.
std::optional<ConvolutionInBatches> convolution_in_batches(const Graphlet& graph, int root,
                                                           std::span<const i64> kernel);
/// What BatchToSpace gets, before views; of any other node itself.
int within_batches(const Graphlet& graph, int node);

}  // namespace ovir::fast
