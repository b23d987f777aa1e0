// What kernels of pooling want to know of MaxPool and AvgPool.
#pragma once
#include <optional>
#include <span>

#include "fast/kernels/convolution/shape.hpp"
#include "fast/kernels/pooling/planar.hpp"
#include "fast/kit/levels.hpp"
#include "op/kit/window.hpp"

namespace ovir::fast {

struct PooledShape {
  ConvolutionShape shape;
  i64 pad_bottom = 0, pad_right = 0;
};

/// Whether one of `count` windows has no tap on an axis of `length`: where it lies wholly beyond the axis, or its taps
/// are so far apart that all of them do.
bool has_empty_window(const Window& window, i64 length, i64 count);

/// Whether a window goes beyond the padded plane, as rounding up allows.
bool goes_beyond(const PoolAttrs& attrs, std::span<const i64> in, std::span<const i64> out);

/// Of the last two spatial axes, or the only one, a plane of height 1. Nothing where a window has no tap on the
/// plane, or too many.
std::optional<PooledShape> pooled_shape(const PoolAttrs& attrs, std::span<const i64> in, std::span<const i64> out);

/// The same for plain planes and volumes; nothing where a window has no tap on them.
std::optional<PlanarPooling> planar_pooling(const PoolAttrs& attrs, bool maximum, std::span<const i64> in,
                                            std::span<const i64> out);
/// Windows that are laid so that there are as many as `out` says.
std::optional<PlanarPooling> adaptive_pooling(bool maximum, std::span<const i64> in, std::span<const i64> out);

/// Brings what was pooled in blocks of `type` into the output, which is stored otherwise. `table`: of levels, where
/// either is such.
void store_pooled(ElementType type, const float* pooled, const U8Table* table, const View& out, ThreadPool& pool);

}  // namespace ovir::fast
