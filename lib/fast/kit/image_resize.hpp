// Interpolate of images along their two spatial axes, as its kernels see it.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "fast/kernels/movement/resize.hpp"
#include "op/kit/interpolation_taps.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast {

/// To the nearest element, or linear between neighbors.
struct ImageResize {
  interpolation::Task task;
  float row_scale = 0, column_scale = 0;  ///< 0: the quotient of the lengths
  bool channels_last = false;             ///< images are [N][H][W][C], not [N][C][H][W]

  bool is_nearest() const { return task.mode == interpolation::Mode::nearest; }
  i64 rows_axis() const { return channels_last ? 1 : 2; }
  i64 channels_axis() const { return channels_last ? 3 : 1; }
  /// Whether these are dims of its input and output.
  bool suits(std::span<const i64> in, std::span<const i64> out) const;
  /// What the output reads of rows and columns.
  std::vector<AxisSource> rows(std::span<const i64> in, std::span<const i64> out) const;
  std::vector<AxisSource> columns(std::span<const i64> in, std::span<const i64> out) const;
};

/// Without a kernel; its operand 0 are the images.
struct ResizeMatch {
  ImageResize resize;
  Match match;
};
/// An Interpolate, with the Transposes that bring channels to the end before it and back behind it, where both are
/// there. Nothing where it resizes other axes or by other filters, or pads.
std::optional<ResizeMatch> image_resize(const Graphlet& graph, int interpolate);

interpolation::Task interpolation_task(const Graphlet& graph, int interpolate);
/// The axes that are resized, in the order of sizes and scales; nothing where they are not known before the run.
std::optional<std::vector<i64>> interpolation_axes(const Graphlet& graph, int interpolate,
                                                   const interpolation::Task& task, i64 rank);
/// The sizes or scales, and axes, that a layer has are operands, for the kernel's sizes follow from them.
Match with_sizes(const Graphlet& graph, int interpolate);

}  // namespace ovir::fast
