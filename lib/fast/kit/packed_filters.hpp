// The filters of f32 convolutions as their kernels pack them, once for all plans of a model.
#pragma once
#include <memory>
#include <optional>

#include "fast/kit/convolution_method.hpp"
#include "fast/kit/convolution_sum.hpp"
#include "fast/kit/reached_taps.hpp"

namespace ovir::fast {

/// Of `sum` or, where there are `taps`, of these alone, whose convolution `shape` is.
std::shared_ptr<const Buffer> packed_filters(const Graphlet& graph, const ConvolutionSum& sum,
                                             const std::optional<ReachedTaps>& taps, ConvolutionMethod method,
                                             const ConvolutionShape& shape);

/// Of a constant of f32. `turns`: it is that of a transposed convolution whose turned() is of this shape.
std::shared_ptr<const Buffer> packed_filters(const Graphlet& graph, ValueRef filters, ConvolutionMethod method,
                                             const ConvolutionShape& shape, bool turns = false);

}  // namespace ovir::fast
