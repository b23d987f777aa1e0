// Transposed convolutions of stride 1 as the convolutions that they are: each output is the sum of as many neighbors,
// by filters whose taps have the opposite order and whose channels and outputs have changed places.
#pragma once
#include <optional>

#include "fast/kit/convolutions.hpp"

namespace ovir::fast {

/// `transposed`, a node, as a convolution of filters that are turned; nothing where strides are longer, planes are not
/// known or so small that a product with all taps takes less, or pads take away more than there are taps.
std::optional<StaticConvolution> turned(const Graphlet& graph, int root, const StaticConvolution& transposed);

/// The filters of a transposed convolution, [groups,] channels, outputs, taps, as turned() has them, whose shape is
/// `shape`: [groups,] outputs, channels, taps.
Tensor turned_filters(const ConvolutionShape& shape, const Tensor& filters);

}  // namespace ovir::fast
