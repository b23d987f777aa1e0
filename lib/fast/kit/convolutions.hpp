// Convolutions as their patterns see them.
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "fast/kernels/convolution/shape.hpp"
#include "op/kit/window.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast {

/// How windows move over planes that may be known only when the step runs.
struct ConvolutionWindows {
  ConvolutionAttrs attrs;
  bool fits_output = false;  ///< of a transposed convolution: its pads follow from the output that it shall have

  /// Along spatial axis `axis`, with the padding that it has for data and an output of these lengths.
  Window along(std::size_t axis, i64 kernel, i64 data, i64 out) const;
};

/// `known`, of which kernel sizes and groups are used, for planes of other sizes: of three spatial axes the last two,
/// or all of them where it is of volumes.
ConvolutionShape with_planes(const ConvolutionWindows& windows, const ConvolutionShape& known,
                             std::span<const i64> data, std::span<const i64> out);

/// Whether data have the planes of `s`, of which only the batch may differ.
bool keeps_plane(const View& data, const ConvolutionShape& s);

struct StaticConvolution {
  ConvolutionWindows windows;
  ConvolutionShape shape;  ///< for one image, or a slice of it
  i64 rank;                ///< of data and output
  bool open;               ///< planes are not known before the run: of one pixel in `shape`
  bool transposed;
  ValueRef data;           ///< what it reads, or what the first of its nodes does
  std::vector<int> nodes;  ///< in order; the last one gives what it computes
  std::size_t shared;      ///< see Match
};

/// A node of one of the four convolution types, in f32 or `type`, with filters whose shape is known; nothing where it
/// has other ranks or more taps than the kernels take, or pads that crop. `spelled_out`: it may be several nodes, with
/// a Pad of zeros that nobody else reads, whose zeros are then among the pads, or in batches.
std::optional<StaticConvolution> static_convolution(const Graphlet& graph, int root, i64 max_rank = 4,
                                                    bool spelled_out = false, i64 max_taps = kMaxTaps,
                                                    ElementType type = ElementType::f32);

/// A Convolution-1 or GroupConvolution-1 of three spatial axes whose sizes are known as one of a plane, of
/// at most kMaxTaps.
std::optional<StaticConvolution> static_volume(const Graphlet& graph, int root);

/// Strides that transposed kernels do not take which go over their phases one by one.
bool has_long_strides(const StaticConvolution& convolution);

/// The node itself or, of a Pad, its only user; -1: none.
int behind_pad(const Graphlet& graph, int node);
/// The convolution of this type whose data a layer's last node gives, perhaps by a Pad, where nothing else reads that;
/// -1: none.
int convolution_after(const Graphlet& graph, int last, std::string_view type);

}  // namespace ovir::fast
