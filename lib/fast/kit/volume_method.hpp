// The ways in which f32 convolutions of three spatial axes are computed, behind one interface: those of one group, and
// depthwise ones.
#pragma once
#include "fast/kernels/convolution/volume.hpp"
#include "fast/kernels/weights.hpp"
#include "fast/kit/convolution_method.hpp"

namespace ovir::fast {

/// direct, pointwise, one of Winograd, planar, or few_outputs, of single pixels of a slice; of groups, which must be
/// such that planar_depthwise_pays() or is_depthwise(), planar_depthwise or depthwise. `once`: filters are packed in
/// every run. `open`: slices are not known. `known`: filters are known, and nothing is added. Planes of the kernel that
/// are not used count unless trimmed() away, which can_trim().
ConvolutionMethod volume_method(const VolumeShape& shape, bool once, bool open, bool known);
constexpr bool can_trim(ConvolutionMethod m) {
  using enum ConvolutionMethod;
  return m != planar && m != planar_depthwise && m != depthwise && m != winograd_line && m != few_outputs;
}
/// Whether pack() may read filters from the file.
constexpr bool reads_file(ConvolutionMethod m) {
  using enum ConvolutionMethod;
  return m != planar && m != planar_depthwise && m != depthwise && m != few_outputs;
}
/// Whether the input lies plainly; else it lies in blocks.
bool reads_plain(ConvolutionMethod method, const VolumeShape& shape);

/// Floats of the packed filters.
i64 filters_size(ConvolutionMethod method, const VolumeShape& shape);
void pack(ConvolutionMethod method, const VolumeShape& shape, const Weights& filters, float* to, ThreadPool& pool);
i64 scratch_size(ConvolutionMethod method, const VolumeShape& shape, int threads);
/// `planes`: the output lies plainly, where writes_planes().
void compute(ConvolutionMethod method, const VolumeShape& shape, const float* filters, const float* in, float* out,
             bool planes, const Epilogue& epilogue, float* scratch, ThreadPool& pool);

/// Whether filters that are needed once had better be packed panel by panel, each right before it is used.
bool packs_by_panels(ConvolutionMethod method, const VolumeShape& shape);
i64 once_scratch_size(ConvolutionMethod method, const VolumeShape& shape, int threads);
/// Where packs_by_panels(); filters.room is not used.
void compute_once(ConvolutionMethod method, const VolumeShape& shape, const Weights& filters, const float* in,
                  float* out, const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
