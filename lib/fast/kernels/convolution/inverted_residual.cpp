#include "fast/kernels/convolution/inverted_residual.hpp"

#include <algorithm>
#include <array>

namespace ovir::fast {
namespace {

constexpr i64 kSlotWords = 96 << 10;  // of what lies between, in each thread's cache
constexpr i64 kPixels = 128;          // of a plane that is large: what lies between leaves the cache
/// Words that are multiplied in the time in which one that lies between leaves the cache and comes back.
constexpr i64 kWorthComputingAgain = 12;

/// One run: what both ways have in common.
class Run {
 public:
  Run(const InvertedResidual& g, const Word* expand_filters, const Word* in, const NarrowPads& pads,
      const InvertedResidualWork& work)
      : g_(g),
        filters_(expand_filters),
        in_(in),
        pads_(pads),
        work_(work),
        in_row_(g.expand.image ? g.expand.padded_width * g.expand.pixel : g.expansion.width * kBlock),
        in_image_(g.expand.image ? g.expand.padded_height() * in_row_
                                 : g.expand.blocks * g.expansion.plane() * kBlock) {
    for (i64 t = 0; t < g.expand.taps; ++t) expand_taps_[t] = t * g.expansion.dilation_y * in_row_;
    const auto& d = g.depthwise;
    for (i64 t = 0; t < d.taps(); ++t)
      taps_[t] = ((t / d.kernel_width) * d.dilation_y * g.width + t % d.kernel_width * d.dilation_x) * kBlock;
  }

  /// Fills what surrounds the plane of a block in the rows that a band reads.
  void surround(i64 block, const Part& band, Word* expanded) const {
    const auto& d = g_.depthwise;
    const auto* pad = pads_.of(block);
    const auto [first, top, bottom] = rows_of(band);
    const auto read = g_.read(band.size());
    for (i64 r = 0; r < read; ++r) {
      auto* row = expanded + r * g_.width * kBlock;
      if (r < top || r >= bottom) {
        fill_pixels(row, g_.width, pad);
        continue;
      }
      fill_pixels(row, d.pad_left, pad);
      fill_pixels(row + (d.pad_left + d.width) * kBlock, g_.width - d.pad_left - d.width, pad);
    }
  }

  bool pads_differ() const { return pads_.step != 0; }

  /// Expands a block of channels between, as far as a band of output rows reads it.
  void expand(i64 image, i64 block, const Part& band, Word* expanded) const {
    const auto& d = g_.depthwise;
    const auto words = kColumns / g_.expand.lanes, block_panels = kBlock / words;
    const auto [first, top, bottom] = rows_of(band);
    const auto last = std::min(g_.expand.panels(), (block + 1) * block_panels);
    auto* run = expanded + g_.expanded_size();
    for (auto panel = block * block_panels; panel < last; ++panel) {
      const auto column = panel % block_panels * words;
      auto ahead = ahead_of(panel, bottom - top);
      if (g_.aside) {
        expand_row(image, first + top, (bottom - top) * d.width, panel, &ahead, run + column);
        continue;
      }
      for (auto r = top; r < bottom; ++r)
        expand_row(image, first + r, d.width, panel, &ahead, expanded + (r * g_.width + d.pad_left) * kBlock + column);
    }
    for (auto r = top; g_.aside && r < bottom; ++r, run += d.width * kBlock)
      std::copy_n(run, d.width * kBlock, expanded + (r * g_.width + d.pad_left) * kBlock);
  }

  void filter(i64 image, i64 block, const Part& band, const Word* expanded, Word* to) const {
    const auto& d = g_.depthwise;
    work_.filter({.in = expanded,
                  .taps = std::span(taps_).first(d.taps()),
                  .step = d.stride_x * kBlock,
                  .row = d.stride_y * g_.width * kBlock,
                  .image = image,
                  .block = block,
                  .y = band.begin,
                  .rows = band.size()},
                 to);
  }

 private:
  /// The first row that a band reads, and which of those it reads lie within the plane: [top, bottom).
  struct Rows {
    i64 first, top, bottom;
  };
  Rows rows_of(const Part& band) const {
    const auto& d = g_.depthwise;
    const auto first = band.begin * d.stride_y - d.pad_top, read = g_.read(band.size());
    const auto top = std::clamp<i64>(-first, 0, read);
    return {first, top, std::clamp<i64>(d.height - first, top, read)};
  }

  /// Pixels from the start of a row on.
  void expand_row(i64 image, i64 row, i64 pixels, i64 panel, Ahead* ahead, Word* to) const {
    const auto& e = g_.expansion;
    const NarrowSum sum{.in = in_ + image * in_image_ + row * e.stride_y * in_row_,
                        .pixel = e.stride_x * g_.expand.pixel,
                        .block = e.plane() * kBlock,
                        .taps = expand_taps_.data(),
                        .blocks = g_.expand.blocks,
                        .tap_count = g_.expand.taps,
                        .steps = g_.expand.steps,
                        .last_steps = g_.expand.last_steps,
                        .weights = filters_ + panel * g_.expand.panel_size(),
                        .ahead = g_.by_rows ? nullptr : ahead};
    work_.expand(sum, static_cast<int>(pixels), panel, to);
  }

  /// The filters of the next panel, which may have left the cache since the last inference.
  Ahead ahead_of(i64 panel, i64 rows) const {
    Ahead ahead;
    if (panel + 1 == g_.expand.panels()) return ahead;
    ahead.next = reinterpret_cast<const char*>(filters_ + (panel + 1) * g_.expand.panel_size());
    ahead.end = ahead.next + g_.expand.panel_size() * 4;
    ahead.lines = ceil_div(2 * kBlock, std::max<i64>(rows, 1));
    return ahead;
  }

  const InvertedResidual& g_;
  const Word* filters_;
  const Word* in_;
  NarrowPads pads_;
  const InvertedResidualWork& work_;
  i64 in_row_, in_image_;  // of the expansion's input: rows of an image, or a plane
  std::array<i64, NarrowGeometry::kMaxTaps> expand_taps_{}, taps_{};
};

void run_by_rows(const InvertedResidual& g, const Run& run, const Word* project_filters, Slots& slots, ThreadPool& pool,
                 const InvertedResidualWork& work) {
  const auto& d = g.depthwise;
  parallel(pool, d.batch * g.bands, [&](i64 chunk) {
    const auto image = chunk / g.bands;
    const Part band(d.out_height, g.bands, chunk % g.bands);
    const Slots::Lease room(slots);
    auto* expanded = reinterpret_cast<Word*>(room.data());
    auto* filtered = expanded + g.expanded_size();
    for (i64 block = 0; block < g.hidden; ++block) {
      if (block == 0 || run.pads_differ()) run.surround(block, band, expanded);
      run.expand(image, block, band, expanded);
      run.filter(image, block, band, expanded, filtered + block * g.filtered_step());
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

/// Each thread begins with as many blocks as the others, then takes its part of those that are left.
void run_by_channels(const InvertedResidual& g, const Run& run, Word* filtered, Slots& slots, ThreadPool& pool) {
  const auto& d = g.depthwise;
  const auto own = g.hidden / g.bands, shared = g.hidden % g.bands;
  parallel(pool, d.batch * g.bands * (own + shared), [&](i64 chunk) {
    const auto image = chunk / (g.bands * (own + shared)), thread = chunk / (own + shared) % g.bands,
               i = chunk % (own + shared);
    const auto block = i < own ? thread * own + i : g.bands * own + i - own;
    const Part band(d.out_height, i < own ? 1 : g.bands, i < own ? 0 : thread);
    if (band.size() == 0) return;
    const Slots::Lease room(slots);
    auto* expanded = reinterpret_cast<Word*>(room.data());
    run.surround(block, band, expanded);
    run.expand(image, block, band, expanded);
    run.filter(image, block, band, expanded,
               filtered + (image * g.hidden + block) * g.filtered_step() + band.begin * d.out_width * kBlock);
  });
}

}  // namespace

InvertedResidual::InvertedResidual(const ConvolutionShape& first, const ConvolutionShape& second,
                                   const ConvolutionShape& third, i64 lanes, int threads)
    : expansion(first),
      depthwise(second),
      expand(first, lanes),
      project(third, lanes),
      hidden(ceil_div(second.channels, lanes * kBlock)),
      width(narrow_width(second)),
      by_rows(second.plane() >= kPixels),
      aside(false),
      bands(by_rows ? std::min<i64>(threads, depthwise.out_height) : threads) {
  while (by_rows && slot_size() > kSlotWords && bands < depthwise.out_height)
    bands = std::min<i64>(bands + threads, depthwise.out_height);
  // Rows that two bands read are expanded twice.
  const auto again = std::max<i64>(bands * rows_read() - depthwise.height, 0);
  if (by_rows && again * expand.panel_steps().size() > kWorthComputingAgain * depthwise.height) {
    by_rows = false;
    bands = threads;
  }
  aside = !by_rows && first.is_pointwise() && 4 * first.width < 3 * round_up(first.width, narrow_isa().pixels);
}

void inverted_residual(const InvertedResidual& g, const Word* expand_filters, const Word* project_filters,
                       const Word* in, const NarrowPads& pads, Word* scratch, ThreadPool& pool,
                       const InvertedResidualWork& work) {
  const auto& d = g.depthwise;
  if (d.batch == 0 || d.out_plane() == 0) return;
  const Run run(g, expand_filters, in, pads, work);
  Slots slots(reinterpret_cast<float*>(scratch), g.slot_size(), slots_for(pool));
  if (g.by_rows) return run_by_rows(g, run, project_filters, slots, pool, work);
  auto* filtered = scratch + slots_for(pool) * g.slot_size();
  run_by_channels(g, run, filtered, slots, pool);
  narrow_convolution(g.project, project_filters, filtered, 0, nullptr, pool, work.project);
}

}  // namespace ovir::fast
