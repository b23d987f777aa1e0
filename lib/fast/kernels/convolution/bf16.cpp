#include "fast/kernels/convolution/bf16.hpp"

#include <algorithm>
#include <array>

#include "fast/kernels/convolution/runs.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kChannels = 2 * kBlock;  // of a block
constexpr i64 kRun = 64;               // pixels at a time

/// What each output pixel reads of a row of the image, where g.unrolled.
void unroll_to_bf16(const NarrowGeometry& g, const float* in, Word* to, ThreadPool& pool) {
  constexpr i64 kValues = 512;  // of a row at a time
  static_assert(kValues > NarrowGeometry::kMaxUnrolled);
  const auto& s = g.s;
  const auto at_once = (kValues - s.kernel_width) / s.stride_x + 1, runs = ceil_div(s.out_width, at_once);
  const auto cost = static_cast<double>(at_once * g.pixel);
  parallel_ranges(pool, s.batch * g.padded_height() * runs, cost, [&](i64 begin, i64 end) {
    std::uint16_t values[kValues];
    for (auto i = begin; i < end; ++i) {
      const auto row = i / runs, first = i % runs * at_once, count = std::min(at_once, s.out_width - first);
      auto* words = to + (row * s.out_width + first) * g.pixel;
      const auto y = g.input_row(row % g.padded_height());
      if (y < 0) {
        std::fill_n(words, count * g.pixel, Word{0});
        continue;
      }
      // Those of the image are [left, right) of what is read.
      const auto x = first * s.stride_x - s.pad_left, size = (count - 1) * s.stride_x + s.kernel_width;
      const auto left = std::clamp<i64>(-x, 0, size), right = std::clamp(s.width - x, left, size);
      std::fill_n(values, size, std::uint16_t{0});
      const auto* from = in + (row / g.padded_height() * s.height + y) * s.width;
      if (left < right) narrow_isa().to_bf16(from + (x + left), values + left, right - left);
      for (i64 p = 0; p < count; ++p, words += g.pixel) {
        const auto* read = values + p * s.stride_x;
        for (i64 w = 0; w < s.kernel_width / 2; ++w) words[w] = Word{read[2 * w]} | Word{read[2 * w + 1]} << 16;
        if (s.kernel_width % 2 == 1) words[g.pixel - 1] = read[s.kernel_width - 1];
      }
    }
  });
}

}  // namespace

void to_bf16_blocked(const float* in, bool blocked, Word* out, i64 batch, i64 channels, i64 plane, ThreadPool& pool) {
  const auto& table = isa();
  const auto& narrow = narrow_isa();
  parallel_runs(batch, bf16_blocks(channels), plane, kRun, kRun * 6, pool,
                [&](i64 image, i64 block, i64 first, i64 pixels) {
                  alignas(64) float values[kRun * kChannels];
                  const auto count = std::min(kChannels, channels - block * kChannels);
                  if (count < kChannels) std::fill_n(values, pixels * kChannels, 0.0f);
                  for (i64 half = 0; half < count; half += kBlock) {
                    const auto valid = std::min(kBlock, count - half), channel = block * kChannels + half;
                    if (!blocked) {
                      table.transpose(in + (image * channels + channel) * plane + first, plane, values + half,
                                      kChannels, valid, pixels);
                      continue;
                    }
                    const auto* from = in + ((image * blocks_of(channels) + channel / kBlock) * plane + first) * kBlock;
                    for (i64 p = 0; p < pixels; ++p)
                      std::copy_n(from + p * kBlock, kBlock, values + p * kChannels + half);
                  }
                  auto* to = out + ((image * bf16_blocks(channels) + block) * plane + first) * kBlock;
                  narrow.to_bf16(values, reinterpret_cast<std::uint16_t*>(to), pixels * kChannels);
                });
}

void from_bf16_blocked(const Word* in, float* out, bool blocked, i64 batch, i64 channels, i64 plane, ThreadPool& pool) {
  const auto& table = isa();
  const auto& narrow = narrow_isa();
  parallel_runs(batch, bf16_blocks(channels), plane, kRun, kRun * 6, pool,
                [&](i64 image, i64 block, i64 first, i64 pixels) {
                  alignas(64) float values[kRun * kChannels];
                  const auto* from = in + ((image * bf16_blocks(channels) + block) * plane + first) * kBlock;
                  narrow.from_bf16(reinterpret_cast<const std::uint16_t*>(from), values, pixels * kChannels);
                  const auto count = std::min(kChannels, channels - block * kChannels);
                  for (i64 half = 0; half < count; half += kBlock) {
                    const auto valid = std::min(kBlock, count - half), channel = block * kChannels + half;
                    for (i64 p = 0; p < pixels && valid < kBlock; ++p)
                      std::fill_n(values + p * kChannels + half + valid, kBlock - valid, 0.0f);
                    if (!blocked) {
                      table.transpose(values + half, kChannels, out + (image * channels + channel) * plane + first,
                                      plane, pixels, valid);
                      continue;
                    }
                    auto* to = out + ((image * blocks_of(channels) + channel / kBlock) * plane + first) * kBlock;
                    for (i64 p = 0; p < pixels; ++p)
                      std::copy_n(values + p * kChannels + half, kBlock, to + p * kBlock);
                  }
                });
}

void bf16_pack(const NarrowGeometry& g, const float* filters, Word* to, ThreadPool& pool) {
  pack_narrow(g, filters, to, pool, bf16_pack_panel);
}

void bf16_pack_panel(const NarrowGeometry& g, i64 panel, const float* filters, Word* to) {
  constexpr i64 kLines = 64;  // of [channel][tap], transposed at a time; more where two channels have more
  alignas(64) std::array<float, 2 * NarrowGeometry::kMaxTaps * kColumns> lines;
  const auto& s = g.s;
  const auto& table = narrow_isa();
  const auto taps = s.taps(), each = s.channels * taps, start = panel * g.panel_size();
  const auto first = panel * kColumns, outputs = std::min(kColumns, s.outputs - first);
  std::fill_n(to, g.panel_size(), Word{0});
  if (g.grouped || g.unrolled) {
    auto* values = reinterpret_cast<std::uint16_t*>(to);
    for (i64 o = 0; o < outputs; ++o)
      for (i64 c = 0; c < s.group_channels(); ++c)
        for (i64 t = 0; t < taps; ++t, ++filters) {
          const auto channel = s.first_channel(first + o) + c;
          const auto place = g.place(first + o, channel, t / s.kernel_width, t % s.kernel_width);
          table.to_bf16(filters, values + (place - 2 * start), 1);
        }
    return;
  }
  const auto together = std::max<i64>(kLines / taps / 2, 1);  // pairs of channels
  std::fill_n(lines.data(), 2 * together * taps * kColumns, 0.0f);
  for (i64 c = 0; c < s.channels; c += 2 * together) {
    const auto channels = std::min(2 * together, s.channels - c);
    isa().transpose(filters + c * taps, each, lines.data(), kColumns, outputs, channels * taps);
    if (channels % 2 == 1) std::fill_n(lines.data() + channels * taps * kColumns, taps * kColumns, 0.0f);
    for (i64 i = 0; i < channels; i += 2)
      for (i64 t = 0; t < taps; ++t) {
        const auto* even = lines.data() + (i * taps + t) * kColumns;
        std::uint16_t pair[2][kColumns];
        table.to_bf16(even, pair[0], kColumns);
        table.to_bf16(even + taps * kColumns, pair[1], kColumns);
        auto* words = to + (g.place(first, c + i, t / s.kernel_width, t % s.kernel_width) / 2 - start);
        for (i64 o = 0; o < kColumns; ++o) words[o] = Word{pair[0][o]} | Word{pair[1][o]} << 16;
      }
  }
}

void image_to_bf16(const NarrowGeometry& g, const float* in, Word* to, ThreadPool& pool) {
  if (g.unrolled) return unroll_to_bf16(g, in, to, pool);
  const auto& s = g.s;
  const auto& table = narrow_isa();
  const auto row_words = g.padded_width * g.pixel;
  parallel_ranges(pool, s.batch * g.padded_height(), static_cast<double>(row_words) / 2, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      auto* row = to + i * row_words;
      const auto y = g.input_row(i % g.padded_height());
      std::fill_n(row, row_words, Word{0});
      if (y < 0) continue;
      for (i64 x = 0; x < s.width; x += kRun) {
        const auto count = std::min(kRun, s.width - x);
        std::uint16_t run[4][kRun] = {};  // by channel: an image has two words at most
        for (i64 c = 0; c < s.channels; ++c)
          table.to_bf16(in + ((i / g.padded_height() * s.channels + c) * s.height + y) * s.width + x, run[c], count);
        auto* to = row + (s.pad_left + x) * g.pixel;
        if (g.pixel == 1) {
          for (i64 k = 0; k < count; ++k) to[k] = Word{run[0][k]} | Word{run[1][k]} << 16;
        } else {
          for (i64 k = 0; k < count; ++k) {
            to[2 * k] = Word{run[0][k]} | Word{run[1][k]} << 16;
            to[2 * k + 1] = Word{run[2][k]} | Word{run[3][k]} << 16;
          }
        }
      }
    }
  });
}

Bf16Place bf16_place(const ConvolutionShape& s, const Bf16Blocked& to, i64 panel, i64 image, i64 pixel) {
  const auto plane = s.out_plane();
  if (to.narrow)
    return {.narrow = to.narrow + ((image * bf16_blocks(s.outputs) + panel) * plane + pixel) * kChannels,
            .pixel = kChannels};
  if (to.wide)
    return {.wide = to.wide + ((image * blocks_of(s.outputs) + 2 * panel) * plane + pixel) * kBlock,
            .pixel = kBlock,
            .block = plane * kBlock};
  return {};
}

void bf16_convolution(const NarrowGeometry& g, const WordPanels& filters, const void* in, const Bf16Blocked& out,
                      const Bf16Blocked& residual, const Epilogue& e, Word* scratch, ThreadPool& pool) {
  const auto& s = g.s;
  const auto* words = static_cast<const Word*>(in);
  if (g.image) {
    image_to_bf16(g, static_cast<const float*>(in), scratch, pool);
    words = scratch;
  }
  const auto tile = [&](const NarrowSum& sum, int pixels, i64 panel, i64 image, i64 pixel) {
    const auto column = panel * kColumns;
    bf16_tile(sum, pixels, column, std::min(kColumns, s.outputs - column), true, e,
              bf16_place(s, residual, panel, image, pixel), bf16_place(s, out, panel, image, pixel));
  };
  const auto stores_all = [&](i64 valid) {
    return bf16_stores_all(valid, true, e, bf16_place(s, residual, 0, 0, 0), bf16_place(s, out, 0, 0, 0));
  };
  const auto last = s.outputs - (g.panels() - 1) * kColumns;
  const bool rows = narrow_isa().bf16_rows && stores_all(kColumns) && stores_all(last);
  narrow_convolution(g, filters, words, 0, scratch, pool, std::cref(tile), rows);
}

i64 bf16_depthwise_filters_size(const ConvolutionShape& s) {
  return bf16_blocks(s.outputs) * (s.taps() + 1) * kChannels;
}

void bf16_depthwise_pack(const ConvolutionShape& s, const float* filters, const float* bias, float* to) {
  std::fill_n(to, bf16_depthwise_filters_size(s), 0.0f);
  for (i64 c = 0; c < s.outputs; ++c) {
    float* block = to + c / kChannels * (s.taps() + 1) * kChannels + c % 2 * kBlock + c % kChannels / 2;
    for (i64 t = 0; t < s.taps(); ++t) {
      // Weights are rounded as those of other convolutions are.
      std::uint16_t rounded = 0;
      narrow_isa().to_bf16(filters + c * s.taps() + t, &rounded, 1);
      narrow_isa().from_bf16(&rounded, block + t * kChannels, 1);
    }
    if (bias) block[s.taps() * kChannels] = bias[c];
  }
}

void bf16_depthwise_rows(const ConvolutionShape& s, const float* filters, const NarrowRows& rows,
                         const Unary& activation, Word* out) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const bool bounded = activation.f == Function::clamp;
  const auto& table = narrow_isa();
  const auto* block = filters + rows.block * (s.taps() + 1) * kChannels;
  Bf16DepthwiseRows work{.in = rows.in,
                         .taps = rows.taps.data(),
                         .tap_count = s.taps(),
                         .channels = s.outputs - rows.block * kChannels,
                         .weights = block,
                         .step = rows.step,
                         .out = out,
                         .pixels = s.out_width,
                         .rows = rows.rows,
                         .row = rows.row,
                         .bias = block + s.taps() * kChannels,
                         .low = bounded ? activation.a : -kInfinity,
                         .high = bounded ? activation.b : kInfinity};
  if (activation.is_clamp()) return table.bf16_depthwise(work);
  if (const auto narrow = activation.shortened(); bf16_computes(narrow.f)) {
    work.narrow = narrow;
    return table.bf16_depthwise(work);
  }
  // Other activations a few pixels at a time, in f32.
  alignas(64) float values[kRun * kChannels];
  work.wide = values;
  work.rows = 1;
  for (i64 y = 0; y < rows.rows; ++y)
    for (i64 x = 0; x < s.out_width; x += kRun) {
      work.in = rows.in + y * rows.row + x * rows.step;
      work.pixels = std::min(kRun, s.out_width - x);
      table.bf16_depthwise(work);
      isa().unary(activation.shortened(), values, values, work.pixels * kChannels);
      table.merge_bf16(values, out + (y * s.out_width + x) * kBlock, work.pixels);
    }
}

void bf16_depthwise(const ConvolutionShape& s, const float* filters, const Word* in, Word* out, const Unary& activation,
                    Word* scratch, ThreadPool& pool) {
  const auto some = [&](const NarrowRows& rows) {
    const auto place = (rows.image * bf16_blocks(s.outputs) + rows.block) * s.out_plane() + rows.y * s.out_width;
    bf16_depthwise_rows(s, filters, rows, activation, out + place * kBlock);
  };
  narrow_depthwise(s, 2, in, {kZeroPixel}, scratch, pool, std::cref(some));
}

}  // namespace ovir::fast
