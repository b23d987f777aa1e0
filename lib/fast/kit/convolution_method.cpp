#include "fast/kit/convolution_method.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "fast/kernels/convolution/bf16x3.hpp"
#include "fast/kernels/convolution/clipped.hpp"
#include "fast/kernels/convolution/depthwise.hpp"
#include "fast/kernels/convolution/direct.hpp"
#include "fast/kernels/convolution/few_outputs.hpp"
#include "fast/kernels/convolution/groups.hpp"
#include "fast/kernels/convolution/planar.hpp"
#include "fast/kernels/convolution/planar_depthwise.hpp"
#include "fast/kernels/convolution/pointwise.hpp"
#include "fast/kernels/convolution/transposed_depthwise.hpp"
#include "fast/kernels/convolution/transposed_few.hpp"
#include "fast/kernels/convolution/transposed_product.hpp"
#include "fast/kernels/convolution/transposed_winograd.hpp"
#include "fast/kernels/convolution/volume.hpp"
#include "fast/kernels/convolution/winograd.hpp"

namespace ovir::fast {

namespace {

struct WinogradMethod {
  ConvolutionMethod method;
  WinogradTile tile;
};
constexpr WinogradMethod kWinograd[] = {
    {ConvolutionMethod::winograd2, WinogradTile::two},
    {ConvolutionMethod::winograd4, WinogradTile::four},
    {ConvolutionMethod::winograd_line, WinogradTile::line},
    {ConvolutionMethod::winograd_strided, WinogradTile::strided},
    {ConvolutionMethod::winograd_strided_line, WinogradTile::strided_line},
    {ConvolutionMethod::winograd_four_taps, WinogradTile::four_taps},
    {ConvolutionMethod::winograd_five_taps, WinogradTile::five_taps},
};

}  // namespace

std::optional<WinogradTile> tile_of(ConvolutionMethod method) {
  const auto* at = std::ranges::find(kWinograd, method, &WinogradMethod::method);
  return at == std::end(kWinograd) ? std::nullopt : std::optional(at->tile);
}

ConvolutionMethod winograd_of(WinogradTile tile) {
  return std::ranges::find(kWinograd, tile, &WinogradMethod::tile)->method;
}

std::string_view name(ConvolutionMethod method) {
  static constexpr std::string_view kNames[] = {"direct",
                                                "pointwise",
                                                "winograd2",
                                                "winograd4",
                                                "winograd_line",
                                                "winograd_strided",
                                                "winograd_strided_line",
                                                "winograd_four_taps",
                                                "winograd_five_taps",
                                                "depthwise",
                                                "grouped",
                                                "groups",
                                                "planar",
                                                "planar_depthwise",
                                                "transposed",
                                                "transposed_product",
                                                "transposed_few",
                                                "transposed_winograd",
                                                "transposed_depthwise",
                                                "clipped",
                                                "few_outputs",
                                                "bf16x3"};
  return kNames[static_cast<std::size_t>(method)];
}

std::string packing_name(std::string_view form, const ConvolutionShape& s) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {}", form, s.groups, s.channels, s.outputs, s.kernel_height,
                     s.kernel_width, s.stride_y, s.stride_x, s.dilation_y, s.dilation_x);
}

std::string packing_name(ConvolutionMethod method, const ConvolutionShape& s) {
  const auto text = packing_name(name(method), s);
  const bool by_phases =
      method == ConvolutionMethod::transposed_few || method == ConvolutionMethod::transposed_winograd;
  return by_phases ? text + fmt::format(" {} {}", s.pad_top, s.pad_left) : text;
}

i64 filters_size(ConvolutionMethod method, const ConvolutionShape& shape) {
  if (const auto tile = tile_of(method)) return winograd_filters_size(shape, *tile);
  switch (method) {
    case ConvolutionMethod::direct:
    case ConvolutionMethod::pointwise:
    case ConvolutionMethod::transposed: return direct_filters_size(shape);
    case ConvolutionMethod::depthwise:
    case ConvolutionMethod::transposed_depthwise:
    case ConvolutionMethod::grouped: return depthwise_filters_size(shape);
    case ConvolutionMethod::groups: return groups_filters_size(shape);
    case ConvolutionMethod::planar: return planar_filters_size(shape);
    case ConvolutionMethod::planar_depthwise: return planar_depthwise_filters_size(shape);
    case ConvolutionMethod::clipped: return clipped_filters_size(shape);
    case ConvolutionMethod::transposed_product: return transposed_product_filters_size(shape);
    case ConvolutionMethod::transposed_few: return transposed_few_filters_size(shape);
    case ConvolutionMethod::transposed_winograd: return transposed_winograd_filters_size(shape);
    case ConvolutionMethod::few_outputs: return few_outputs_filters_size(shape);
    case ConvolutionMethod::bf16x3: return bf16x3_filters_size(shape);
    default: return 0;
  }
}

void pack(ConvolutionMethod method, const ConvolutionShape& shape, const Weights& filters, float* to,
          ThreadPool& pool) {
  if (const auto tile = tile_of(method)) return winograd_pack(shape, *tile, filters, to, pool);
  switch (method) {
    case ConvolutionMethod::direct:
    case ConvolutionMethod::pointwise: return direct_pack(shape, filters, to, pool);
    case ConvolutionMethod::transposed: return transposed_pack(shape, filters.data, to, pool);
    case ConvolutionMethod::depthwise:
    case ConvolutionMethod::transposed_depthwise:
    case ConvolutionMethod::grouped: return depthwise_pack(shape, filters.data, to);
    case ConvolutionMethod::groups: return groups_pack(shape, filters.data, to, pool);
    case ConvolutionMethod::planar: return planar_pack(shape, filters.data, to, pool);
    case ConvolutionMethod::planar_depthwise: return void(std::copy_n(filters.data, shape.weights(), to));
    case ConvolutionMethod::transposed_product: return transposed_product_pack(shape, filters.data, to, pool);
    case ConvolutionMethod::transposed_few: return transposed_few_pack(shape, filters.data, to, pool);
    case ConvolutionMethod::transposed_winograd: return transposed_winograd_pack(shape, filters.data, to, pool);
    case ConvolutionMethod::clipped: return clipped_pack(shape, filters, to, pool);
    case ConvolutionMethod::few_outputs: return few_outputs_pack(shape, filters.data, to, pool);
    case ConvolutionMethod::bf16x3: return bf16x3_pack(shape, filters, to, pool);
    default: return;
  }
}

i64 scratch_size(ConvolutionMethod method, const ConvolutionShape& shape, int threads) {
  if (const auto tile = tile_of(method)) return winograd_scratch_size(shape, *tile, threads);
  switch (method) {
    case ConvolutionMethod::direct: return direct_scratch_size(shape, threads);
    case ConvolutionMethod::pointwise:
    case ConvolutionMethod::transposed_depthwise:
    case ConvolutionMethod::clipped: return 0;
    case ConvolutionMethod::depthwise:
    case ConvolutionMethod::grouped: return depthwise_scratch_size(shape, threads);
    case ConvolutionMethod::groups: return groups_scratch_size(shape, threads);
    case ConvolutionMethod::planar: return planar_scratch_size(shape, threads);
    case ConvolutionMethod::planar_depthwise: return planar_depthwise_scratch_size(shape, threads);
    case ConvolutionMethod::transposed: return transposed_scratch_size(shape, threads);
    case ConvolutionMethod::transposed_product: return transposed_product_scratch_size(shape);
    case ConvolutionMethod::transposed_few: return transposed_few_scratch_size(shape, threads);
    case ConvolutionMethod::transposed_winograd: return transposed_winograd_scratch_size(shape, threads);
    case ConvolutionMethod::few_outputs: return few_outputs_scratch_size(shape, threads);
    case ConvolutionMethod::bf16x3: return bf16x3_scratch_size(shape, threads);
    default: return 0;
  }
}

void compute(ConvolutionMethod method, const ConvolutionShape& shape, const float* filters, const float* in, float* out,
             bool planes, const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (const auto tile = tile_of(method))
    return winograd_convolution(shape, *tile, filters, in, out, epilogue, scratch, pool);
  switch (method) {
    case ConvolutionMethod::direct: return direct_convolution(shape, filters, in, out, epilogue, scratch, pool);
    case ConvolutionMethod::pointwise: return pointwise_convolution(shape, filters, in, out, epilogue, pool);
    case ConvolutionMethod::depthwise:
    case ConvolutionMethod::grouped: return depthwise_convolution(shape, filters, in, out, epilogue, scratch, pool);
    case ConvolutionMethod::groups: return groups_convolution(shape, filters, in, out, epilogue, scratch, pool);
    case ConvolutionMethod::clipped: return clipped_convolution(shape, filters, in, out, epilogue, pool);
    case ConvolutionMethod::few_outputs:
      return few_outputs_convolution(shape, filters, in, out, planes, epilogue, scratch, pool);
    case ConvolutionMethod::bf16x3: return bf16x3_convolution(shape, filters, in, out, epilogue, scratch, pool);
    case ConvolutionMethod::planar: return planar_convolution(shape, filters, in, out, epilogue, scratch, pool);
    case ConvolutionMethod::planar_depthwise:
      return planar_depthwise_convolution(shape, filters, in, out, epilogue, scratch, pool);
    case ConvolutionMethod::transposed: return transposed_convolution(shape, filters, in, out, epilogue, scratch, pool);
    case ConvolutionMethod::transposed_depthwise: return transposed_depthwise(shape, filters, in, out, epilogue, pool);
    case ConvolutionMethod::transposed_product:
      return transposed_product(shape, filters, in, out, epilogue, scratch, pool);
    case ConvolutionMethod::transposed_few:
      return transposed_few(shape, filters, in, out, planes, epilogue, scratch, pool);
    case ConvolutionMethod::transposed_winograd:
      return transposed_winograd(shape, filters, in, out, epilogue, scratch, pool);
    default: return;
  }
}

bool packs_by_panels(ConvolutionMethod method, const ConvolutionShape& shape) {
  switch (method) {
    case ConvolutionMethod::direct: return volume_packs_by_panels(shape);
    case ConvolutionMethod::pointwise: return pointwise_packs_by_panels(shape);
    case ConvolutionMethod::bf16x3: return bf16x3_packs_by_panels(shape);
    case ConvolutionMethod::clipped: return clipped_packs_by_panels(shape);
    default: break;
  }
  const auto tile = tile_of(method);
  return tile && winograd_packs_by_panels(shape, *tile);
}

i64 once_scratch_size(ConvolutionMethod method, const ConvolutionShape& shape, int threads) {
  switch (method) {
    case ConvolutionMethod::direct: return volume_once_scratch_size(shape, threads);
    case ConvolutionMethod::pointwise: return pointwise_once_scratch_size(shape, threads);
    case ConvolutionMethod::bf16x3: return bf16x3_once_scratch_size(shape, threads);
    case ConvolutionMethod::clipped: return clipped_once_scratch_size(shape, threads);
    default: return winograd_once_scratch_size(shape, *tile_of(method), threads);
  }
}

void compute_once(ConvolutionMethod method, const ConvolutionShape& shape, const Weights& filters, const float* in,
                  float* out, const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  switch (method) {
    case ConvolutionMethod::direct: return direct_volume_once(shape, filters, in, out, epilogue, scratch, pool);
    case ConvolutionMethod::pointwise:
      return pointwise_convolution_once(shape, filters, in, out, epilogue, scratch, pool);
    case ConvolutionMethod::bf16x3: return bf16x3_convolution_once(shape, filters, in, out, epilogue, scratch, pool);
    case ConvolutionMethod::clipped: return clipped_convolution_once(shape, filters, in, out, epilogue, scratch, pool);
    default: return winograd_convolution_once(shape, *tile_of(method), filters, in, out, epilogue, scratch, pool);
  }
}

}  // namespace ovir::fast
