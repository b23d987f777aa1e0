#include "fast/kernels/convolution/inverted_residual.hpp"

#include <algorithm>
#include <array>

namespace ovir::fast {
namespace {

constexpr i64 kSlotWords = 96 << 10;  // of what lies between, in each thread's cache
constexpr i64 kPixels = 512;          // of a plane that is worth it: smaller ones stay in the cache as they are

void fill_pixels(Word* to, i64 pixels, Word with) { std::fill_n(to, pixels * kBlock, with); }

}  // namespace

InvertedResidual::InvertedResidual(const ConvolutionShape& first, const ConvolutionShape& second,
                                   const ConvolutionShape& third, i64 lanes, int threads)
    : expansion(first),
      depthwise(second),
      expand(first, lanes),
      project(third, lanes),
      hidden(ceil_div(second.channels, lanes * kBlock)),
      width(narrow_width(second)),
      bands(std::min<i64>(threads, depthwise.out_height)) {
  while (slot_size() > kSlotWords && bands < depthwise.out_height)
    bands = std::min<i64>(bands + threads, depthwise.out_height);
}

bool InvertedResidual::pays(const ConvolutionShape& depthwise) { return depthwise.plane() >= kPixels; }

void inverted_residual(const InvertedResidual& g, const Word* expand_filters, const Word* project_filters,
                       const Word* in, Word pad, Word* scratch, ThreadPool& pool, const InvertedResidualWork& work) {
  const auto &e = g.expansion, &d = g.depthwise;
  if (d.batch == 0 || d.out_plane() == 0) return;
  // The expansion's input: rows of an image, or a plane.
  const auto in_row = g.expand.image ? g.expand.padded_width * g.expand.pixel : e.width * kBlock;
  const auto in_image = g.expand.image ? g.expand.padded_height * in_row : g.expand.blocks * e.plane() * kBlock;
  std::array<i64, NarrowGeometry::kMaxTaps> expand_taps{}, taps;
  for (i64 t = 0; t < g.expand.taps; ++t) expand_taps[t] = t * e.dilation_y * in_row;
  for (i64 t = 0; t < d.taps(); ++t)
    taps[t] = ((t / d.kernel_width) * d.dilation_y * g.width + t % d.kernel_width * d.dilation_x) * kBlock;
  const auto words = kColumns / g.expand.lanes, block_panels = kBlock / words;

  Slots slots(reinterpret_cast<float*>(scratch), g.slot_size(), slots_for(pool));
  parallel(pool, d.batch * g.bands, [&](i64 chunk) {
    const auto image = chunk / g.bands;
    const Part band(d.out_height, g.bands, chunk % g.bands);
    const Slots::Lease room(slots);
    auto* expanded = reinterpret_cast<Word*>(room.data());
    auto* filtered = expanded + g.expanded_size();
    const auto first = band.begin * d.stride_y - d.pad_top, read = g.read(band.size());
    const auto top = std::clamp<i64>(-first, 0, read), bottom = std::clamp<i64>(d.height - first, top, read);
    for (i64 r = 0; r < read; ++r) {
      auto* row = expanded + r * g.width * kBlock;
      if (r < top || r >= bottom) {
        fill_pixels(row, g.width, pad);
        continue;
      }
      fill_pixels(row, d.pad_left, pad);
      fill_pixels(row + (d.pad_left + d.width) * kBlock, g.width - d.pad_left - d.width, pad);
    }
    for (i64 block = 0; block < g.hidden; ++block) {
      const auto last = std::min(g.expand.panels(), (block + 1) * block_panels);
      for (auto panel = block * block_panels; panel < last; ++panel)
        for (auto r = top; r < bottom; ++r) {
          const NarrowSum sum{.in = in + image * in_image + (first + r) * e.stride_y * in_row,
                              .pixel = e.stride_x * g.expand.pixel,
                              .block = e.plane() * kBlock,
                              .taps = expand_taps.data(),
                              .blocks = g.expand.blocks,
                              .tap_count = g.expand.taps,
                              .steps = g.expand.steps,
                              .last_steps = g.expand.last_steps,
                              .weights = expand_filters + panel * g.expand.panel_size(),
                              .ahead = nullptr};
          work.expand(sum, static_cast<int>(d.width), panel,
                      expanded + (r * g.width + d.pad_left) * kBlock + panel % block_panels * words);
        }
      work.filter({.in = expanded,
                   .taps = std::span(taps).first(d.taps()),
                   .step = d.stride_x * kBlock,
                   .row = d.stride_y * g.width * kBlock,
                   .image = image,
                   .block = block,
                   .y = band.begin,
                   .rows = band.size()},
                  filtered + block * g.filtered_step());
    }
    for (i64 panel = 0; panel < g.project.panels(); ++panel) {
      const NarrowSum sum{.in = filtered,
                          .pixel = kBlock,
                          .block = g.filtered_step(),
                          .taps = kOneTap,
                          .blocks = g.project.blocks,
                          .tap_count = 1,
                          .steps = g.project.steps,
                          .last_steps = g.project.last_steps,
                          .weights = project_filters + panel * g.project.panel_size(),
                          .ahead = nullptr};
      work.project(sum, static_cast<int>(band.size() * d.out_width), panel, image, band.begin * d.out_width);
    }
  });
}

}  // namespace ovir::fast
