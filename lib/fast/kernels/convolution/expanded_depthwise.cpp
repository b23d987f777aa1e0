#include "fast/kernels/convolution/expanded_depthwise.hpp"

#include "fast/kernels/convolution/depthwise.hpp"
#include "fast/kernels/convolution/planar.hpp"
#include "fast/kernels/convolution/pointwise.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kSlotFloats = 96 << 10;  // of what lies between, in each thread's cache
constexpr i64 kPanelBlocks = kColumns / kBlock;

/// One run.
struct Run {
  const ExpandedDepthwise& g;
  const PackedLayer &expand, &filter, &project;
  const float* in;
  float* out;
  float* hidden;  ///< all that is filtered, where it is projected afterwards

  void chunk(i64 image, Part some_panels, Part band, float* room) const {
    const auto& d = g.depthwise;
    float* const ring = room;
    float* const filtered = ring + some_panels.size() * kPanelBlocks * g.ring_step();
    float* const planes = filtered + (g.by_rows && g.projects() ? g.panels * kPanelBlocks * g.filtered_step() : 0);
    const auto steps = ceil_div(band.size(), g.rows);
    i64 expanded = 0;  // rows before are there, as far as they are needed
    for (i64 i = 0; i < steps; ++i) {
      const Part step(band.size(), steps, i), rows(band.begin + step.begin, band.begin + step.end);
      const auto first = rows.begin * d.stride_y - d.pad_top;
      const auto begin = std::clamp<i64>(first, expanded, d.height);
      const Part fresh(begin, std::clamp(first + g.read(rows.size()), begin, d.height));
      expanded = fresh.end;
      for (auto panel = some_panels.begin; panel < some_panels.end; ++panel) {
        float* const blocks = ring + (panel - some_panels.begin) * kPanelBlocks * g.ring_step();
        expand_rows(image, panel, fresh, blocks, planes);
        filter_rows(image, panel, rows, blocks, filtered);
      }
      if (g.by_rows && g.projects()) project_rows(image, rows, filtered);
    }
  }

  /// Brings rows of a panel into the ring.
  void expand_rows(i64 image, i64 panel, Part rows, float* ring, float* planes) const {
    const auto& e = g.expansion;
    const auto width = g.depthwise.width;
    const auto place = rows.begin % g.ring();
    const auto at_once = std::min(rows.size(), g.ring() - place);
    for (const auto& some : {Part(rows.begin, rows.begin + at_once), Part(rows.begin + at_once, rows.end)}) {
      if (some.size() == 0) continue;
      float* const to = ring + some.begin % g.ring() * width * kBlock;
      if (g.planar) {
        planar_rows(e, expand.filters, in + image * e.channels * e.plane(),
                    {some, Part(0, e.out_width), panel, panel + 1}, to, g.ring_step(), expand.epilogue, nullptr,
                    planes);
        continue;
      }
      const Panels packed{expand.filters, round_up(e.channels, kBlock), e.outputs};
      Ahead ahead;
      if (!g.by_rows && panel + 1 < g.panels) {
        ahead.next = reinterpret_cast<const char*>(packed.panel(panel + 1));
        ahead.end = reinterpret_cast<const char*>(packed.panel(panel + 1) + packed.k * packed.columns(panel + 1));
        ahead.lines = ceil_div(2 * kBlock, ceil_div(some.size() * width, isa().pixels));
      }
      pointwise_run({.in = in + (image * blocks_of(e.channels) * e.plane() + some.begin * width) * kBlock,
                     .in_block = e.plane() * kBlock,
                     .channels = e.channels,
                     .pixels = some.size() * width,
                     .out = to,
                     .out_block = g.ring_step()},
                    packed.panel(panel), panel * kColumns, packed.filled(panel), expand.epilogue,
                    g.by_rows ? nullptr : &ahead);
    }
  }

  void filter_rows(i64 image, i64 panel, Part rows, const float* ring, float* filtered) const {
    const auto& d = g.depthwise;
    const auto first = panel * kPanelBlocks, blocks = blocks_of(d.channels);
    for (auto block = first; block < std::min(blocks, first + kPanelBlocks); ++block) {
      float* to = filtered + block * g.filtered_step();
      if (!g.by_rows || !g.projects())
        to = (g.projects() ? hidden : out) + (image * blocks + block) * g.filtered_step() +
             rows.begin * d.out_width * kBlock;
      depthwise_rows(d, filter.filters + block * d.taps() * kBlock, {ring + (block - first) * g.ring_step(), g.ring()},
                     to, filter.epilogue, block * kBlock, rows);
    }
  }

  void project_rows(i64 image, Part rows, const float* filtered) const {
    const auto& p = g.projection;
    const Panels packed{project.filters, round_up(p.channels, kBlock), p.outputs};
    const auto step = p.plane() * kBlock;
    for (i64 panel = 0; panel < packed.count(); ++panel) {
      const auto place = (image * blocks_of(p.outputs) + panel * kPanelBlocks) * step + rows.begin * p.width * kBlock;
      const auto* const residual = project.epilogue.residual;
      pointwise_run({.in = filtered,
                     .in_block = g.filtered_step(),
                     .channels = p.channels,
                     .pixels = rows.size() * p.width,
                     .out = out + place,
                     .out_block = step,
                     .residual = residual ? residual + place : nullptr},
                    packed.panel(panel), panel * kColumns, packed.filled(panel), project.epilogue, nullptr);
    }
  }
};

}  // namespace

bool ExpandedDepthwise::supports(const ConvolutionShape& e, const ConvolutionShape& d) {
  const bool planar = e.groups == 1 && e.channels <= kFewChannels && planar_taps(e) <= kMaxPlanarTaps;
  return (planar || (e.is_pointwise() && e.groups == 1)) && d.is_depthwise() && d.channels == e.outputs &&
         depthwise_slides(d);
}

bool ExpandedDepthwise::is_by_rows(const ConvolutionShape& d) { return d.plane() >= kLargePlane; }

ExpandedDepthwise::ExpandedDepthwise(const ConvolutionShape& first, const ConvolutionShape& second,
                                     const ConvolutionShape& third, int threads)
    : expansion(first),
      depthwise(second),
      projection(third),
      planar(!first.is_pointwise()),
      by_rows(is_by_rows(second)),
      panels(ceil_div(second.channels, kColumns)),
      chunk_panels(by_rows ? panels : 1),
      bands(by_rows ? std::min<i64>(threads, second.out_height) : 1),
      rows(ceil_div(second.out_height, bands)) {
  while (by_rows && rows > 1 && slot_size() > kSlotFloats) --rows;
}

i64 ExpandedDepthwise::slot_size() const {
  return chunk_panels * kPanelBlocks * ring_step() +
         (by_rows && projects() ? panels * kPanelBlocks * filtered_step() : 0) +
         (planar ? planar_room_size(expansion, ring()) : 0);
}

i64 ExpandedDepthwise::scratch_size(int threads) const {
  return threads * slot_size() +
         (!by_rows && projects() ? depthwise.batch * panels * kPanelBlocks * filtered_step() : 0);
}

void expanded_depthwise(const ExpandedDepthwise& g, const PackedLayer& expand, const PackedLayer& filter,
                        const PackedLayer& project, const float* in, float* out, float* scratch, ThreadPool& pool) {
  const auto& d = g.depthwise;
  if (d.batch == 0 || d.out_plane() == 0) return;
  Slots slots(scratch, g.slot_size(), slots_for(pool));
  const Run run{g, expand, filter, project, in, out, scratch + slots_for(pool) * g.slot_size()};
  const auto shares = ceil_div(g.panels, g.chunk_panels);
  parallel(pool, d.batch * g.bands * shares, [&](i64 chunk) {
    const auto image = chunk / (g.bands * shares), first = chunk % shares * g.chunk_panels;
    const Slots::Lease room(slots);
    run.chunk(image, Part(first, std::min(first + g.chunk_panels, g.panels)),
              Part(d.out_height, g.bands, chunk / shares % g.bands), room.data());
  });
  if (!g.projects()) return clear_padding(d, filter.epilogue.activation, out);
  if (g.by_rows) clear_padding(g.projection, project.epilogue.activation, out);
  else pointwise_convolution(g.projection, project.filters, run.hidden, out, project.epilogue, pool);
}

}  // namespace ovir::fast
