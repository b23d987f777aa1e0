// What kernels of pooling over two spatial axes want to know of MaxPool and AvgPool.
#pragma once
#include <optional>
#include <span>

#include "fast/kernels/convolution/shape.hpp"
#include "op/kit/window.hpp"

namespace ovir::fast {

struct PooledShape {
  ConvolutionShape shape;
  i64 pad_bottom = 0, pad_right = 0;
};

/// Of [batch, channels, height, width]. Nothing where a window may lie wholly beyond the plane, or is too large.
std::optional<PooledShape> pooled_shape(const PoolAttrs& attrs, std::span<const i64> in, std::span<const i64> out);

}  // namespace ovir::fast
