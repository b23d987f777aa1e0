#include "fast/kernels/convolution/bf16x3.hpp"

#include "fast/kernels/convolution/narrow.hpp"
#include "fast/kernels/epilogue_bf16.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kChannels = 2 * kBlock;  // of a block

NarrowGeometry geometry(const ConvolutionShape& s) { return {s, 2, 3}; }

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
  const auto taps = s.taps(), each = s.channels * taps, block_words = taps * 3 * kBlock * kColumns;
  parallel_ranges(pool, g.panels() * g.blocks, static_cast<double>(block_words), [&](i64 begin, i64 end) {
    Buffer lines(kChannels * taps * kColumns);  // [channel][tap][32]
    for (auto i = begin; i < end; ++i) {
      const auto panel = i / g.blocks, block = i % g.blocks;
      const auto outputs = std::min(kColumns, s.outputs - panel * kColumns),
                 channels = std::min(kChannels, s.channels - block * kChannels);
      if (outputs < kColumns || channels < kChannels) std::fill_n(lines.data(), lines.size(), 0.0f);
      isa().transpose(filters + panel * kColumns * each + block * kChannels * taps, each, lines.data(), kColumns,
                      outputs, channels * taps);
      auto* words = reinterpret_cast<Word*>(to) + i * block_words;
      for (i64 t = 0; t < taps; ++t, words += 3 * kBlock * kColumns)
        for (i64 w = 0; w < kBlock; ++w)
          narrow_isa().lines_to_bf16x3(lines.data() + (2 * w * taps + t) * kColumns,
                                       lines.data() + ((2 * w + 1) * taps + t) * kColumns,
                                       words + (2 * kBlock + w) * kColumns, -kBlock * kColumns);
    }
  });
}

i64 bf16x3_scratch_size(const ConvolutionShape& s, int threads) { return geometry(s).scratch_size(threads); }

void bf16x3_convolution(const ConvolutionShape& shape, const float* filters, const float* in, float* out,
                        const Epilogue& e, float* scratch, ThreadPool& pool) {
  const auto g = geometry(shape);
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
  narrow_convolution(g, reinterpret_cast<const Word*>(filters), reinterpret_cast<const Word*>(in), 0,
                     reinterpret_cast<Word*>(scratch), pool, std::cref(tile));
}

}  // namespace ovir::fast
