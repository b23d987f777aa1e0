// A pointwise convolution, or one of an image, the depthwise convolution of what it gives and, where there is one, a
// pointwise projection of that, in f32. Rows of large planes go through all of them a few at a time; of small planes
// each thread expands and filters a few channels. Either way what lies between stays in the thread's cache.
#pragma once
#include "fast/kernels/convolution/shape.hpp"

namespace ovir::fast {

struct ExpandedDepthwise {
  /// Each shape's input is the output of the one before; a third one of no outputs stands for none.
  ExpandedDepthwise(const ConvolutionShape& expansion, const ConvolutionShape& depthwise,
                    const ConvolutionShape& projection, int threads);

  /// Whether the kernels can compute the first two in one.
  static bool supports(const ConvolutionShape& expansion, const ConvolutionShape& depthwise);
  static constexpr i64 kLargePlane = 512;  ///< pixels: what such planes expand to leaves the cache
  static bool is_by_rows(const ConvolutionShape& depthwise);

  ConvolutionShape expansion, depthwise, projection;
  bool planar, by_rows;
  i64 panels;        ///< of 32 channels between
  i64 chunk_panels;  ///< those that a chunk computes
  i64 bands;         ///< parts of the output's rows that are computed by themselves
  i64 rows;          ///< of the output that are computed at a time, at most

  bool projects() const { return projection.outputs > 0; }
  /// Input rows that so many output rows read.
  i64 read(i64 output_rows) const {
    return (output_rows - 1) * depthwise.stride_y + (depthwise.kernel_height - 1) * depthwise.dilation_y + 1;
  }
  /// Rows of what is expanded that are kept.
  i64 ring() const { return std::min(depthwise.height, read(rows)); }
  /// Floats between blocks: not a multiple of a page, or lines would fall together.
  i64 ring_step() const { return (ring() * depthwise.width + 1) * kBlock; }
  i64 filtered_step() const {
    return by_rows && projects() ? (rows * depthwise.out_width + 1) * kBlock : depthwise.out_plane() * kBlock;
  }
  i64 slot_size() const;
  i64 scratch_size(int threads) const;
};

/// Filters as the kernels of the layer by itself pack them.
struct PackedLayer {
  const float* filters = nullptr;
  Epilogue epilogue{};
};

/// The bits are those of one after the other. Only the last one may add a residual.
void expanded_depthwise(const ExpandedDepthwise& geometry, const PackedLayer& expand, const PackedLayer& filter,
                        const PackedLayer& project, const float* in, float* out, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
