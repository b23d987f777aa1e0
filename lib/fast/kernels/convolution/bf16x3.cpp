#include "fast/kernels/convolution/bf16x3.hpp"

#include "fast/kernels/convolution/narrow.hpp"
#include "fast/kernels/epilogue_bf16.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kChannels = 2 * kBlock;  // of a block

NarrowGeometry geometry(const ConvolutionShape& s) { return {s, 2, 3}; }

i64 lines_size(const ConvolutionShape& s) { return kChannels * s.taps() * kColumns; }

/// Of a thread that packs a panel right before it is used: the panel, the filters of a block side by side, and as they
/// were read.
struct Room {
  i64 panel, lines, read;
  Room(const ConvolutionShape& s, const NarrowGeometry& g)
      : panel(g.panel_size()), lines(lines_size(s)), read(round_up(kColumns * s.channels * s.taps(), kBlock)) {}
  i64 size() const { return panel + lines + read; }
};

/// The filters of a panel, which lie together at `from`.
void pack_panel(const NarrowGeometry& g, const float* from, i64 panel, float* lines, Word* to) {
  const auto& s = g.s;
  const auto taps = s.taps(), each = s.channels * taps, outputs = std::min(kColumns, s.outputs - panel * kColumns);
  const auto line = [&](i64 channel, i64 tap) { return lines + (channel * taps + tap) * kColumns; };
  for (i64 block = 0; block < g.blocks; ++block) {
    const auto channels = std::min(kChannels, s.channels - block * kChannels);
    if (outputs < kColumns || channels < kChannels) std::fill_n(lines, lines_size(s), 0.0f);
    isa().transpose(from + block * kChannels * taps, each, lines, kColumns, outputs, channels * taps);
    for (i64 t = 0; t < taps; ++t, to += 3 * kBlock * kColumns)
      for (i64 w = 0; w < kBlock; ++w)
        narrow_isa().lines_to_bf16x3(line(2 * w, t), line(2 * w + 1, t), to + (2 * kBlock + w) * kColumns,
                                     -kBlock * kColumns);
  }
}

void run(const NarrowGeometry& g, const NarrowFilters& filters, const float* in, float* out, const Epilogue& e,
         float* scratch, ThreadPool& pool) {
  const auto& s = g.s;
  const auto tile = [&](const NarrowSum& sum, int pixels, i64 panel, i64 image, i64 pixel) {
    const auto column = panel * kColumns, plane = s.out_plane(),
               place = ((image * blocks_of(s.outputs) + 2 * panel) * plane + pixel) * kBlock;
    const auto at = [&](float* values) {
      return values ? Bf16Place{.wide = values + place, .pixel = kBlock, .block = plane * kBlock} : Bf16Place{};
    };
    bf16_tile(sum, pixels, column, std::min(kColumns, s.outputs - column), true, e, at(const_cast<float*>(e.residual)),
              at(out));
  };
  narrow_convolution(g, filters, reinterpret_cast<const Word*>(in), 0, reinterpret_cast<Word*>(scratch), pool,
                     std::cref(tile));
}

}  // namespace

bool bf16x3_convolution_pays(const ConvolutionShape& s) {
  if (!narrow_isa().to_bf16x3 || s.groups != 1 || s.outputs < kColumns || s.taps() > NarrowGeometry::kMaxTaps)
    return false;
  // Nanoseconds of one thread: pixels are multiplied faster, but they must be split, and weights take half as much
  // memory again. Blocks and panels that are half empty take as long as full ones.
  const auto number = [](i64 n) { return static_cast<double>(n); };
  const auto pixels = number(s.out_plane()), channels = number(round_up(s.channels, kChannels)),
             weights = channels * number(round_up(s.outputs, kColumns) * s.taps());
  const auto whole = number(s.channels * s.outputs * s.taps()) * pixels / 85;
  return weights * (pixels / 160 + 0.25) + 0.35 * channels * number(s.plane()) < 0.95 * whole;
}

i64 bf16x3_filters_size(const ConvolutionShape& s) { return geometry(s).filters_size(); }

void bf16x3_pack(const ConvolutionShape& s, const float* filters, float* to, ThreadPool& pool) {
  const auto g = geometry(s);
  parallel_ranges(pool, g.panels(), static_cast<double>(g.panel_size()) / 3, [&](i64 begin, i64 end) {
    const Buffer lines(lines_size(s));
    for (auto panel = begin; panel < end; ++panel)
      pack_panel(g, filters + panel * kColumns * s.channels * s.taps(), panel, lines.data(),
                 reinterpret_cast<Word*>(to) + panel * g.panel_size());
  });
}

i64 bf16x3_scratch_size(const ConvolutionShape& s, int threads) { return geometry(s).scratch_size(threads); }

void bf16x3_convolution(const ConvolutionShape& s, const float* filters, const float* in, float* out, const Epilogue& e,
                        float* scratch, ThreadPool& pool) {
  run(geometry(s), reinterpret_cast<const Word*>(filters), in, out, e, scratch, pool);
}

bool bf16x3_packs_by_panels(const ConvolutionShape& s) {
  const auto g = geometry(s);
  return s.batch == 1 && g.panels() >= kOncePanels && !g.copies_bands();
}

i64 bf16x3_once_scratch_size(const ConvolutionShape& s, int threads) {
  return bf16x3_scratch_size(s, threads) + threads * Room(s, geometry(s)).size();
}

void bf16x3_convolution_once(const ConvolutionShape& s, const Weights& filters, const float* in, float* out,
                             const Epilogue& e, float* scratch, ThreadPool& pool) {
  const auto g = geometry(s);
  const Room size(s, g);
  const auto each = s.channels * s.taps();
  const auto pack = [&](i64 panel, Word* room) {
    auto* const lines = reinterpret_cast<float*>(room + size.panel);
    const auto first = panel * kColumns, count = std::min(kColumns, s.outputs - first);
    pack_panel(g, filters.get(first * each, count * each, lines + size.lines), panel, lines, room);
  };
  auto* rooms = reinterpret_cast<Word*>(scratch + bf16x3_scratch_size(s, slots_for(pool)));
  run(g, {std::cref(pack), size.size(), rooms}, in, out, e, scratch, pool);
}

}  // namespace ovir::fast
