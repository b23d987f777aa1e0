#include "fast/kit/volume_method.hpp"

#include "fast/kernels/convolution/depthwise.hpp"
#include "fast/kernels/convolution/few_outputs.hpp"
#include "fast/kernels/convolution/planar.hpp"
#include "fast/kernels/convolution/planar_depthwise.hpp"
#include "fast/kernels/convolution/winograd.hpp"

namespace ovir::fast {
namespace {

using enum ConvolutionMethod;

/// As the kernel of a method takes it.
VolumeShape seen(ConvolutionMethod method, const VolumeShape& v) {
  if (tile_of(method) || method == few_outputs) return v.rows();
  return method == planar || method == planar_depthwise || method == depthwise ? v : v.folded();
}

}  // namespace

ConvolutionMethod volume_method(const VolumeShape& v, bool once, bool open, bool known) {
  const auto& s = v.slice;
  if (s.groups > 1) return planar_depthwise_pays(s, open) ? planar_depthwise : depthwise;
  if (known && s.is_pointwise() && few_outputs_pays(v.rows().slice)) return few_outputs;
  if (const auto tile = winograd_tile(v.rows(), 1, once)) return winograd_of(*tile);
  if (s.channels <= kFewChannels && planar_taps(planar_slice(v)) <= kMaxPlanarTaps) return planar;
  return s.taps() == 1 ? pointwise : direct;
}

bool reads_plain(ConvolutionMethod m, const VolumeShape& v) {
  return m == planar || m == planar_depthwise || (m == few_outputs && few_outputs_reads_planes(v.rows().slice));
}

i64 filters_size(ConvolutionMethod method, const VolumeShape& shape) {
  const auto v = seen(method, shape);
  if (method == few_outputs) return few_outputs_filters_size(v.slice);
  if (method == depthwise) return depthwise_volume_filters_size(v);
  if (const auto tile = tile_of(method)) return winograd_filters_size(v, *tile);
  if (method == planar_depthwise) return v.kernel_planes * planar_depthwise_filters_size(v.slice);
  return method == planar ? planar_filters_size(planar_slice(v)) : volume_filters_size(v);
}

void pack(ConvolutionMethod method, const VolumeShape& shape, const Weights& filters, float* to, ThreadPool& pool) {
  const auto v = seen(method, shape);
  if (method == few_outputs) return few_outputs_pack(v.slice, filters.data, to, pool);
  if (method == depthwise) return depthwise_volume_pack(v, filters.data, to);
  if (const auto tile = tile_of(method)) return winograd_pack(v, *tile, filters, to, pool);
  if (method == planar_depthwise) return void(std::copy_n(filters.data, filters_size(method, v), to));
  if (method == planar) return planar_pack(planar_slice(v), filters.data, to, pool);
  volume_pack(v, filters, to, pool);
}

i64 scratch_size(ConvolutionMethod method, const VolumeShape& shape, int threads) {
  const auto v = seen(method, shape);
  if (method == few_outputs) return few_outputs_scratch_size(v.slice, threads);
  if (method == depthwise) return 0;
  if (const auto tile = tile_of(method)) return winograd_scratch_size(v, *tile, threads);
  if (method == planar_depthwise) return planar_depthwise_scratch_size(v.slice, threads);
  return method == planar ? planar_scratch_size(planar_slice(v), threads) : volume_scratch_size(v, threads);
}

void compute(ConvolutionMethod method, const VolumeShape& shape, const float* filters, const float* in, float* out,
             bool planes, const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  const auto v = seen(method, shape);
  if (method == few_outputs) return few_outputs_convolution(v.slice, filters, in, out, planes, epilogue, scratch, pool);
  if (method == depthwise) return depthwise_volume(v, filters, in, out, epilogue, pool);
  if (const auto tile = tile_of(method))
    return winograd_convolution(v, *tile, filters, in, out, epilogue, scratch, pool);
  if (method == planar_depthwise) return planar_depthwise_volume(v, filters, in, out, epilogue, scratch, pool);
  if (method == planar) return planar_volume(v, filters, in, out, epilogue, scratch, pool);
  direct_volume(v, filters, in, out, epilogue, scratch, pool);
}

bool packs_by_panels(ConvolutionMethod method, const VolumeShape& shape) {
  const auto v = seen(method, shape);
  if (const auto tile = tile_of(method)) return winograd_packs_by_panels(v, *tile);
  return reads_file(method) && volume_packs_by_panels(v);
}

i64 once_scratch_size(ConvolutionMethod method, const VolumeShape& shape, int threads) {
  const auto v = seen(method, shape);
  if (const auto tile = tile_of(method)) return winograd_once_scratch_size(v, *tile, threads);
  return volume_once_scratch_size(v, threads);
}

void compute_once(ConvolutionMethod method, const VolumeShape& shape, const Weights& filters, const float* in,
                  float* out, const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  const auto v = seen(method, shape);
  if (const auto tile = tile_of(method))
    return winograd_convolution_once(v, *tile, filters, in, out, epilogue, scratch, pool);
  direct_volume_once(v, filters, in, out, epilogue, scratch, pool);
}

}  // namespace ovir::fast
