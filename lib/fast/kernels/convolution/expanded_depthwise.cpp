#include "fast/kernels/convolution/expanded_depthwise.hpp"

#include "fast/kernels/convolution/depthwise.hpp"
#include "fast/kernels/convolution/pointwise.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPlaneWorthKeeping = 512;    // pixels: what smaller ones expand to stays in the cache anyway
constexpr i64 kExpandedFloats = 96 << 10;  // of a panel, beside what else is in the second-level cache
constexpr i64 kChunksPerThread = 3, kLeastRows = 8;

}  // namespace

bool expanded_depthwise_pays(const ConvolutionShape& expansion, const ConvolutionShape& depthwise) {
  return expansion.is_pointwise() && expansion.groups == 1 && depthwise.is_depthwise() &&
         depthwise.channels == expansion.outputs && depthwise_slides(depthwise) &&
         depthwise.plane() >= kPlaneWorthKeeping && depthwise.width * 3 * kColumns < kExpandedFloats;
}

ExpandedDepthwise::ExpandedDepthwise(const ConvolutionShape& first, const ConvolutionShape& second, int threads)
    : expansion(first), depthwise(second), panels(ceil_div(second.channels, kColumns)) {
  const auto fits = ceil_div(depthwise.plane() * kColumns, kExpandedFloats),
             shares = ceil_div(kChunksPerThread * threads, std::max<i64>(depthwise.batch * panels, 1));
  bands = std::clamp<i64>(std::max(fits, shares), 1, std::max<i64>(depthwise.out_height / kLeastRows, 1));
}

void expanded_depthwise(const ExpandedDepthwise& what, const float* expand_filters, const Epilogue& expand_epilogue,
                        const float* filters, const Epilogue& epilogue, const float* in, float* out, float* scratch,
                        ThreadPool& pool) {
  const auto &e = what.expansion, &d = what.depthwise;
  if (d.batch == 0 || d.out_plane() == 0) return;
  const Panels packed{expand_filters, round_up(e.channels, kBlock), e.outputs};
  const auto step = what.expanded_size();
  Slots slots(scratch, (kColumns / kBlock) * step, slots_for(pool));
  parallel(pool, d.batch * what.panels * what.bands, [&](i64 chunk) {
    const auto image = chunk / (what.panels * what.bands), panel = chunk / what.bands % what.panels;
    const Part band(d.out_height, what.bands, chunk % what.bands);
    const auto first = band.begin * d.stride_y - d.pad_top;
    const auto top = std::clamp<i64>(first, 0, d.height),
               bottom = std::clamp(first + what.rows_read(band.size()), top, d.height);
    const Slots::Lease room(slots);
    const auto column = panel * kColumns, columns = packed.columns(panel);
    pointwise_run({.in = in + (image * blocks_of(e.channels) * e.plane() + top * e.width) * kBlock,
                   .in_block = e.plane() * kBlock,
                   .channels = e.channels,
                   .pixels = (bottom - top) * e.width,
                   .out = room.data(),
                   .out_block = step},
                  packed.panel(panel), column, columns, expand_epilogue, nullptr);
    auto rows = d;
    rows.height = bottom - top;
    rows.pad_top = top - first;
    rows.out_height = band.size();
    for (i64 i = 0; i < columns / kBlock; ++i) {
      const auto block = panel * (kColumns / kBlock) + i;
      depthwise_block(
          rows, filters + block * d.taps() * kBlock, room.data() + i * step,
          out + ((image * blocks_of(d.channels) + block) * d.out_plane() + band.begin * d.out_width) * kBlock, epilogue,
          block * kBlock);
    }
  });
  clear_padding(d, epilogue.activation, out);
}

}  // namespace ovir::fast
