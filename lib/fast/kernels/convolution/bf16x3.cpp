#include "fast/kernels/convolution/bf16x3.hpp"

#include <array>

#include "fast/kernels/convolution/narrow.hpp"
#include "fast/kernels/epilogue_bf16.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kChannels = 2 * kBlock;  // of a block

NarrowGeometry geometry(const ConvolutionShape& s) { return {s, 2, 3}; }

/// Of a thread that packs a panel right before it is used: the panel, and its filters as they were read.
struct Room {
  i64 panel, read;
  Room(const ConvolutionShape& s, const NarrowGeometry& g)
      : panel(g.panel_size()), read(round_up(kColumns * s.channels * s.taps(), kBlock)) {}
  i64 size() const { return panel + read; }
};

/// The filters of a panel, which lie together at `from`.
void pack_panel(const NarrowGeometry& g, const float* from, i64 panel, Word* to) {
  constexpr i64 kLines = 64;  // of [channel][tap], transposed at a time; more where two channels have more
  alignas(64) std::array<float, 2 * NarrowGeometry::kMaxTaps * kColumns> lines;
  const auto& s = g.s;
  const auto taps = s.taps(), each = s.channels * taps, outputs = std::min(kColumns, s.outputs - panel * kColumns);
  const auto together = std::clamp<i64>(kLines / taps / 2, 1, kBlock);  // pairs of channels
  const auto tap_words = 3 * kBlock * kColumns;
  std::fill_n(lines.data(), 2 * together * taps * kColumns, 0.0f);
  for (i64 pair = 0, pairs = 0; pair < g.blocks * kBlock; pair += pairs) {
    pairs = std::min(together, kBlock - pair % kBlock);
    const auto first = 2 * pair, channels = std::clamp<i64>(s.channels - first, 0, 2 * pairs);
    if (channels < 2 * pairs) std::fill_n(lines.data(), 2 * pairs * taps * kColumns, 0.0f);
    if (channels > 0) isa().transpose(from + first * taps, each, lines.data(), kColumns, outputs, channels * taps);
    for (i64 i = 0; i < pairs; ++i)
      for (i64 t = 0; t < taps; ++t) {
        const auto* even = lines.data() + (2 * i * taps + t) * kColumns;
        auto* block = to + ((pair + i) / kBlock * taps + t) * tap_words;
        narrow_isa().lines_to_bf16x3(even, even + taps * kColumns,
                                     block + (2 * kBlock + (pair + i) % kBlock) * kColumns, -kBlock * kColumns);
      }
  }
}

void run(const NarrowGeometry& g, const WordPanels& filters, const float* in, float* out, const Epilogue& e,
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

void bf16x3_pack(const ConvolutionShape& s, const Weights& filters, float* to, ThreadPool& pool) {
  const auto g = geometry(s);
  const auto each = s.channels * s.taps();
  pack_blocks(filters, s.outputs * each, kColumns * each, 1, static_cast<double>(g.panel_size()) / 3, pool,
              [&](i64 panel, i64, const float* from) {
                pack_panel(g, from, panel, reinterpret_cast<Word*>(to) + panel * g.panel_size());
              });
}

i64 bf16x3_scratch_size(const ConvolutionShape& s, int threads) { return geometry(s).scratch_size(threads); }

void bf16x3_convolution(const ConvolutionShape& s, const float* filters, const float* in, float* out, const Epilogue& e,
                        float* scratch, ThreadPool& pool) {
  run(geometry(s), reinterpret_cast<const Word*>(filters), in, out, e, scratch, pool);
}

bool bf16x3_packs_by_panels(const ConvolutionShape& s) { return geometry(s).once(0).by_panels; }

i64 bf16x3_once_scratch_size(const ConvolutionShape& s, int threads) {
  return bf16x3_scratch_size(s, threads) + threads * Room(s, geometry(s)).size();
}

void bf16x3_convolution_once(const ConvolutionShape& s, const Weights& filters, const float* in, float* out,
                             const Epilogue& e, float* scratch, ThreadPool& pool) {
  const auto g = geometry(s);
  const Room size(s, g);
  const auto each = s.channels * s.taps();
  const auto pack = [&](i64 panel, Word* room) {
    const auto first = panel * kColumns, count = std::min(kColumns, s.outputs - first);
    pack_panel(g, filters.get(first * each, count * each, reinterpret_cast<float*>(room + size.panel)), panel, room);
  };
  auto* rooms = reinterpret_cast<Word*>(scratch + bf16x3_scratch_size(s, slots_for(pool)));
  run(g, {std::cref(pack), size.size(), rooms}, in, out, e, scratch, pool);
}

}  // namespace ovir::fast
