// The ways in which f32 convolutions of one or two spatial axes are computed on Layout::blocked, behind one interface.
#pragma once
#include <cstdint>
#include <string_view>

#include "fast/kernels/convolution/shape.hpp"
#include "fast/kernels/weights.hpp"

namespace ovir::fast {

/// `planar` reads plain planes, `few_outputs` does so where there are few channels; the others read blocked values.
/// `lines` is of three spatial axes (volume_method.hpp).
enum class ConvolutionMethod : std::uint8_t {
  direct,
  pointwise,
  winograd2,
  winograd4,
  depthwise,
  grouped,
  planar,
  transposed,
  clipped,
  few_outputs,
  bf16x3,
  dilated,
  lines
};
std::string_view name(ConvolutionMethod method);

constexpr bool is_winograd(ConvolutionMethod m) {
  return m == ConvolutionMethod::winograd2 || m == ConvolutionMethod::winograd4;
}

/// Floats of the packed filters, of which the size of planes does not matter.
i64 filters_size(ConvolutionMethod method, const ConvolutionShape& shape);
void pack(ConvolutionMethod method, const ConvolutionShape& shape, const Weights& filters, float* to, ThreadPool& pool);
i64 scratch_size(ConvolutionMethod method, const ConvolutionShape& shape, int threads);
/// `planes`: the output lies plainly; of few_outputs alone.
void compute(ConvolutionMethod method, const ConvolutionShape& shape, const float* filters, const float* in, float* out,
             bool planes, const Epilogue& epilogue, float* scratch, ThreadPool& pool);

/// Whether filters that are needed once had better be packed panel by panel, each right before it is used.
bool packs_by_panels(ConvolutionMethod method, const ConvolutionShape& shape);
i64 once_scratch_size(ConvolutionMethod method, const ConvolutionShape& shape, int threads);
/// Where packs_by_panels(); filters.room is not used.
void compute_once(ConvolutionMethod method, const ConvolutionShape& shape, const Weights& filters, const float* in,
                  float* out, const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
