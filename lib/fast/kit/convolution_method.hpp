// The ways in which f32 convolutions of one or two spatial axes are computed on Layout::blocked, behind one interface.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fast/isa/tile.hpp"
#include "fast/kernels/convolution/shape.hpp"
#include "fast/kernels/weights.hpp"

namespace ovir::fast {

/// `planar` reads plain planes, `few_outputs` does so where there are few channels, and `planar_depthwise` reads and
/// writes nothing else; the others read blocked values. `transposed_few` and `few_outputs` may write plain planes.
enum class ConvolutionMethod : std::uint8_t {
  direct,
  pointwise,
  winograd2,
  winograd4,
  winograd_line,
  winograd_strided,
  winograd_strided_line,
  winograd_four_taps,
  winograd_five_taps,
  depthwise,
  grouped,
  groups,
  planar,
  planar_depthwise,
  transposed,
  transposed_product,
  transposed_few,
  transposed_winograd,
  transposed_depthwise,
  clipped,
  few_outputs,
  bf16x3
};
std::string_view name(ConvolutionMethod method);

/// The method of a tile that winograd_tile() gives.
ConvolutionMethod winograd_of(WinogradTile tile);
/// Nothing of other methods.
std::optional<WinogradTile> tile_of(ConvolutionMethod method);

/// All that filters packed in this way depend on besides the filters: what Graphlet::shared() calls them.
std::string packing_name(std::string_view form, const ConvolutionShape& shape);
/// The same for pack(): the size of planes is not part of it, of some methods their padding is.
std::string packing_name(ConvolutionMethod method, const ConvolutionShape& shape);

/// Floats of the packed filters, of which the size of planes does not matter.
i64 filters_size(ConvolutionMethod method, const ConvolutionShape& shape);
void pack(ConvolutionMethod method, const ConvolutionShape& shape, const Weights& filters, float* to, ThreadPool& pool);
i64 scratch_size(ConvolutionMethod method, const ConvolutionShape& shape, int threads);
/// Nothing lies in blocks, nor the residual.
constexpr bool is_plain(ConvolutionMethod m) { return m == ConvolutionMethod::planar_depthwise; }
constexpr bool writes_planes(ConvolutionMethod m) {
  return m == ConvolutionMethod::few_outputs || m == ConvolutionMethod::transposed_few || is_plain(m);
}
/// `planes`: the output lies plainly, where writes_planes().
void compute(ConvolutionMethod method, const ConvolutionShape& shape, const float* filters, const float* in, float* out,
             bool planes, const Epilogue& epilogue, float* scratch, ThreadPool& pool);

/// Whether filters that are needed once had better be packed panel by panel, each right before it is used.
bool packs_by_panels(ConvolutionMethod method, const ConvolutionShape& shape);
i64 once_scratch_size(ConvolutionMethod method, const ConvolutionShape& shape, int threads);
/// Where packs_by_panels(); filters.room is not used.
void compute_once(ConvolutionMethod method, const ConvolutionShape& shape, const Weights& filters, const float* in,
                  float* out, const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
