#include "fast/kernels/convolution/u8.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "fast/kernels/convolution/runs.hpp"
#include "fast/kernels/pair_excess.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kChannels = 4 * kBlock;  // of a block
constexpr i64 kRun = 64;               // pixels at a time

/// The 16 channels from `channel` on of a run of pixels.
struct Sixteen {
  bool blocked;
  i64 channels, plane;
  i64 place(i64 image, i64 channel, i64 first) const {
    return blocked ? ((image * blocks_of(channels) + channel / kBlock) * plane + first) * kBlock
                   : (image * channels + channel) * plane + first;
  }
};

}  // namespace

void u8_pack_panel(const NarrowGeometry& g, i64 panel, const std::int8_t* weights, Word* to) {
  const auto& s = g.s;
  const auto first = panel * kColumns, outputs = std::min(kColumns, s.outputs - first), start = panel * g.panel_size();
  const auto taps = s.taps(), channels = s.group_channels();
  std::fill_n(to, g.panel_size(), Word{0});
  if (g.grouped) {
    for (i64 o = 0; o < outputs; ++o)
      for (i64 c = 0; c < channels; ++c)
        for (i64 t = 0; t < taps; ++t, ++weights) {
          const auto place = g.place(first + o, s.first_channel(first + o) + c, t / s.kernel_width, t % s.kernel_width);
          to[place / 4 - start] |= Word{static_cast<std::uint8_t>(*weights)} << 8 * (place % 4);
        }
    return;
  }
  for (i64 c = 0; c < channels; c += 4)
    for (i64 t = 0; t < taps; ++t) {
      const auto* from = weights + c * taps + t;
      auto* words = to + g.place(first, c, t / s.kernel_width, t % s.kernel_width) / 4 - start;
      const auto count = std::min<i64>(4, channels - c);
      for (i64 o = 0; o < outputs; ++o, from += channels * taps) {
        if (count == 4 && taps == 1) {
          std::memcpy(words + o, from, 4);
          continue;
        }
        Word word = 0;
        for (i64 k = 0; k < count; ++k) word |= Word{static_cast<std::uint8_t>(from[k * taps])} << 8 * k;
        words[o] = word;
      }
    }
}

void u8_pack(const NarrowGeometry& g, const std::int8_t* weights, Word* to, ThreadPool& pool) {
  pack_narrow(g, weights, to, pool, u8_pack_panel);
}

void image_to_u8(const NarrowGeometry& g, const float* in, const U8Scale& q, std::uint8_t pad, Word* to,
                 ThreadPool& pool) {
  const auto& s = g.s;
  const auto& table = narrow_isa();
  const auto row_words = g.padded_width * g.pixel;
  parallel_ranges(pool, s.batch * g.padded_height(), static_cast<double>(row_words), [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      auto* row = to + i * row_words;
      const auto y = g.input_row(i % g.padded_height());
      std::fill_n(row, row_words, u8_pad(pad));
      if (y < 0) continue;
      for (i64 w = 0; w < g.pixel; ++w) {
        const auto first = 4 * w, channels = std::min<i64>(4, s.channels - first);
        std::array<const float*, 4> rows{};
        for (i64 c = 0; c < channels; ++c)
          rows[c] = in + ((i / g.padded_height() * s.channels + first + c) * s.height + y) * s.width;
        table.pixels_to_u8(rows.data(), static_cast<int>(channels), q.by + first, q.plus + first, q.max_level, s.width,
                           row + s.pad_left * g.pixel + w, g.pixel);
      }
    }
  });
}

namespace {

/// Of columns from `first` on, if the loops compute it.
template <class Tile>
void set_activation(Tile& tile, const U8Epilogue& e, i64 first) {
  if (!e.in_loops) return;
  tile.activation = {
      .f = e.activation, .by = e.by + first, .plus = e.plus + first, .below = e.slopes ? e.slopes + first : nullptr};
  tile.low = 0;
  tile.high = e.max_level;
}

U8Tile tile_of(const NarrowSum& sum, i64 column, const U8Epilogue& e) {
  U8Tile tile{.sum = sum,
              .scale = e.scale + column,
              .shift = e.shift + column,
              .low = e.low,
              .high = e.high,
              .small = e.small,
              .rounds = e.rounds,
              .own = e.own,
              .other = e.other,
              .offset = e.offset,
              .min = e.min,
              .max = e.max};
  if (e.lows) {
    tile.lows = e.lows + column;
    tile.highs = e.highs + column;
  }
  tile.sum.excess = excess_of_panel(e.excess, column);
  return tile;
}

}  // namespace

void u8_tile(const NarrowSum& sum, int pixels, i64 panel, const U8Epilogue& e, std::uint8_t* out) {
  auto tile = tile_of(sum, panel * kColumns, e);
  set_activation(tile, e, panel * kColumns);
  tile.out = out;
  tile.out_pixel = kChannels;
  narrow_isa().u8(tile, pixels);
}

U8Tile u8_tile_of(const ConvolutionShape& s, const U8Blocked& out, const U8Blocked& residual, const U8Epilogue& e,
                  const NarrowSum& sum, i64 panel, i64 image, i64 pixel) {
  const auto plane = s.out_plane();
  const auto place = ((image * u8_blocks(s.outputs) + panel / 2) * plane + pixel) * kChannels + panel % 2 * kColumns;
  const auto wide_place = ((image * blocks_of(s.outputs) + 2 * panel) * plane + pixel) * kBlock;
  auto tile = tile_of(sum, panel * kColumns, e);
  tile.columns = u8_columns(s, panel);
  tile.filled = s.outputs - panel * kColumns;
  if (residual.levels) {
    tile.residual = residual.levels + place;
    tile.residual_pixel = kChannels;
  } else if (residual.wide) {
    tile.wide_residual = residual.wide + wide_place;
    tile.residual_pixel = kBlock;
    tile.residual_block = plane * kBlock;
  } else {
    set_activation(tile, e, panel * kColumns);
  }
  if (out.levels) {
    tile.out = out.levels + place;
    tile.out_pixel = kChannels;
  } else {
    tile.wide = out.wide + wide_place;
    tile.out_pixel = kBlock;
    tile.out_block = plane * kBlock;
  }
  return tile;
}

namespace {

/// The activation of columns from `column` on, the 16 columns of all pixels side by side, and what follows it, from
/// pixel `first` of the tile on: lanes beyond the last of `outputs` become 0 in f32.
void finish_aside(const U8Epilogue& e, const U8Tile& t, i64 first, float* values, PixelRows rows, i64 column,
                  i64 columns, i64 outputs) {
  const auto& loops = isa();
  const auto& table = narrow_isa();
  const auto pixels = rows.count * rows.pixels;
  const bool adds = t.residual || t.wide_residual;
  const auto finish = [&](U8Aside& part) {
    for (i64 r = 0; r < rows.count; ++r) {
      table.u8_finish_aside(part, rows.pixels);
      part.values += rows.pixels * kBlock;
      if (part.residual) part.residual += rows.apart * part.residual_pixel;
      if (part.wide_residual) part.wide_residual += rows.apart * part.residual_pixel;
      if (part.out) part.out += rows.apart * part.out_pixel;
    }
  };
  for (i64 c = 0; c < columns; c += kBlock) {
    auto* v = values + c * pixels;
    const auto filled = std::clamp<i64>(outputs - column - c, 0, kBlock), lanes = round_up(filled, loops.lanes);
    // Other activations than PRelu by channel have passes of their own.
    const auto activate = [&](const Unary& f, const float* slopes) {
      if (f.f == Function::identity || slopes) return;
      if (lanes == kBlock) loops.unary(f, v, v, pixels * kBlock);
      else loops.activate(f, nullptr, v, kBlock, nullptr, 0, pixels, lanes);
    };
    const auto by_column = [&](const float* p) { return p ? p + column + c : nullptr; };
    U8Aside aside{.values = v,
                  .slopes = by_column(e.slopes),
                  .by = by_column(e.by),
                  .plus = by_column(e.plus),
                  .max_level = e.max_level,
                  .own = e.own,
                  .other = e.other,
                  .offset = e.offset,
                  .min = e.min,
                  .max = e.max};
    activate(e.activation, e.slopes);
    alignas(64) std::array<float, kBlock> sum_by, sum_plus;
    if (adds) {
      const auto skipped = first * t.residual_pixel;
      if (t.residual) aside.residual = t.residual + skipped + c;
      else aside.wide_residual = t.wide_residual + skipped + c / kBlock * t.residual_block;
      aside.residual_pixel = t.residual_pixel;
      aside.sum_slopes = by_column(e.sum_slopes);
      aside.sum_by = e.sum_by;
      aside.sum_plus = e.sum_plus;
      aside.sum_max_level = e.sum_max_level;
      if (e.sum_activation.f != Function::identity && !e.sum_slopes) {
        finish(aside);
        activate(e.sum_activation, nullptr);
        sum_by.fill(e.sum_by);
        sum_plus.fill(e.sum_plus);
        aside = {.values = v};
        if (t.out) {
          aside.by = sum_by.data();
          aside.plus = sum_plus.data();
          aside.max_level = e.sum_max_level;
        }
      }
    }
    if (t.out) {
      aside.out = t.out + first * t.out_pixel + c;
      aside.out_pixel = t.out_pixel;
      finish(aside);
      continue;
    }
    if (aside.slopes || aside.residual || aside.wide_residual) finish(aside);
    std::array<std::uint32_t, kBlock> keep{}, bits;
    std::fill_n(keep.begin(), filled, ~0u);
    for (i64 p = 0; p < pixels; ++p) {
      std::memcpy(bits.data(), v + p * kBlock, sizeof bits);
      for (i64 lane = 0; lane < kBlock; ++lane) bits[lane] &= keep[lane];
      std::memcpy(t.wide + (first + rows.place(p)) * t.out_pixel + c / kBlock * t.out_block, bits.data(), sizeof bits);
    }
  }
}

/// A tile whose activation wants all of its values.
void activated_tile(const U8Epilogue& e, const U8Tile& to, const NarrowSum& sum, int pixels, i64 column, i64 columns,
                    i64 outputs) {
  const auto& table = narrow_isa();
  alignas(64) float values[kMostPixels * kColumns];
  for (int first = 0; first < pixels; first += kMostPixels) {
    const auto now = std::min(kMostPixels, pixels - first);
    auto tile = tile_of(sum, column, e);
    // In tiles of two rows the second half lies elsewhere; those have no more pixels than a tile.
    tile.sum.in += first * sum.pixel;
    tile.wide = values;
    tile.out_pixel = kBlock;
    tile.out_block = now * kBlock;
    tile.columns = columns;
    tile.filled = outputs - column;
    table.u8(tile, now);
    finish_aside(e, to, first, values, {.pixels = now}, column, columns, outputs);
  }
}

}  // namespace

void u8_activated_rows(const ConvolutionShape& s, const U8Blocked& out, const U8Blocked& residual, const U8Epilogue& e,
                       float* values, PixelRows rows, i64 panel, i64 image, i64 pixel) {
  finish_aside(e, u8_tile_of(s, out, residual, e, {}, panel, image, pixel), 0, values, rows, panel * kColumns,
               u8_columns(s, panel), s.outputs);
}

void u8_tile(const ConvolutionShape& s, const U8Blocked& out, const U8Blocked& residual, const U8Epilogue& e,
             const NarrowSum& sum, int pixels, i64 panel, i64 image, i64 pixel) {
  const auto tile = u8_tile_of(s, out, residual, e, sum, panel, image, pixel);
  if (e.activated && !tile.activation)
    return activated_tile(e, tile, sum, pixels, panel * kColumns, u8_columns(s, panel), s.outputs);
  if (sum.rows) return narrow_isa().u8_rows(tile, *sum.rows);
  narrow_isa().u8(tile, pixels);
}

void u8_convolution(const NarrowGeometry& g, const WordPanels& filters, const Word* in, std::uint8_t pad,
                    const U8Blocked& out, const U8Blocked& residual, const U8Epilogue& e, Word* scratch,
                    ThreadPool& pool) {
  const auto one = [&](const NarrowSum& sum, int pixels, i64 panel, i64 image, i64 pixel) {
    u8_tile(g.s, out, residual, e, sum, pixels, panel, image, pixel);
  };
  const bool rows = narrow_isa().u8_rows && !e.activated;
  narrow_convolution(g, filters, in, u8_pad(pad), scratch, pool, std::cref(one), rows);
}

U8Pads::U8Pads(std::span<const std::uint8_t> levels) {
  const bool same = std::ranges::all_of(levels, [&](std::uint8_t level) { return level == levels[0]; });
  words_.assign(same ? kBlock : u8_blocks(std::ssize(levels)) * kBlock, same ? u8_pad(levels[0]) : 0);
  if (!same) std::memcpy(words_.data(), levels.data(), levels.size());
}

i64 u8_depthwise_weights_size(const ConvolutionShape& s) { return u8_blocks(s.outputs) * s.taps() * kChannels; }

void u8_depthwise_pack(const ConvolutionShape& s, const std::int8_t* weights, std::int8_t* to) {
  std::fill_n(to, u8_depthwise_weights_size(s), std::int8_t{0});
  for (i64 c = 0; c < s.outputs; ++c)
    for (i64 t = 0; t < s.taps(); ++t)
      to[(c / kChannels * s.taps() + t) * kChannels + c % kChannels] = weights[c * s.taps() + t];
}

namespace {

U8DepthwiseRows depthwise_work(const ConvolutionShape& s, const std::int8_t* weights, const NarrowRows& rows,
                               const U8Epilogue& e) {
  const auto channel = rows.block * kChannels;
  return {.in = rows.in,
          .taps = rows.taps.data(),
          .tap_count = s.taps(),
          .channels = std::min(kChannels, s.outputs - channel),
          .weights = weights + rows.block * s.taps() * kChannels,
          .step = rows.step,
          .scale = e.scale + channel,
          .shift = e.shift + channel,
          .low = e.low,
          .high = e.high,
          .small = e.small,
          .lows = e.lows ? e.lows + channel : nullptr,
          .highs = e.lows ? e.highs + channel : nullptr,
          .out = nullptr,
          .pixels = s.out_width,
          .rows = rows.rows,
          .row = rows.row};
}

}  // namespace

void u8_depthwise_rows(const ConvolutionShape& s, const std::int8_t* weights, const NarrowRows& rows,
                       const U8Epilogue& e, std::uint8_t* out) {
  auto work = depthwise_work(s, weights, rows, e);
  set_activation(work, e, rows.block * kChannels);
  work.out = out;
  narrow_isa().u8_depthwise(work);
}

void u8_depthwise(const ConvolutionShape& s, const std::int8_t* weights, const Word* in, const NarrowPads& pads,
                  const U8Blocked& out, const U8Epilogue& e, Word* scratch, ThreadPool& pool) {
  /// With an activation, some pixels at a time.
  const auto activated = [&](const NarrowRows& rows) {
    alignas(64) float values[kMostPixels * kChannels];
    const auto channel = rows.block * kChannels, plane = s.out_plane();
    auto work = depthwise_work(s, weights, rows, e);
    work.rows = 1;
    work.wide = values;
    for (i64 r = 0; r < rows.rows; ++r)
      for (i64 x = 0; x < s.out_width; x += kMostPixels) {
        const auto now = std::min<i64>(kMostPixels, s.out_width - x), pixel = (rows.y + r) * s.out_width + x;
        work.in = rows.in + r * rows.row + x * rows.step;
        work.pixels = now;
        work.wide_block = now * kBlock;
        work.wide_blocks = std::min<i64>(4, blocks_of(s.outputs) - channel / kBlock);
        narrow_isa().u8_depthwise(work);
        auto to = tile_of({}, 0, e);
        if (out.levels)
          to.out = out.levels + ((rows.image * u8_blocks(s.outputs) + rows.block) * plane + pixel) * kChannels;
        else to.wide = out.wide + ((rows.image * blocks_of(s.outputs) + channel / kBlock) * plane + pixel) * kBlock;
        to.out_pixel = out.levels ? kChannels : kBlock;
        to.out_block = plane * kBlock;
        finish_aside(e, to, 0, values, {.pixels = now}, channel, work.wide_blocks * kBlock, s.outputs);
      }
  };
  constexpr double kActivation = 16;  // ns, of a pixel
  if (e.activated && !e.in_loops)
    return narrow_depthwise(s, 4, in, pads, scratch, pool, std::cref(activated), kActivation);
  const auto some = [&](const NarrowRows& rows) {
    const auto pixel = rows.y * s.out_width, plane = s.out_plane();
    if (out.levels)
      return u8_depthwise_rows(
          s, weights, rows, e,
          out.levels + ((rows.image * u8_blocks(s.outputs) + rows.block) * plane + pixel) * kChannels);
    auto work = depthwise_work(s, weights, rows, e);
    const auto first = rows.block * kChannels / kBlock;
    work.wide = out.wide + ((rows.image * blocks_of(s.outputs) + first) * plane + pixel) * kBlock;
    work.wide_block = plane * kBlock;
    work.wide_blocks = std::min<i64>(4, blocks_of(s.outputs) - first);
    narrow_isa().u8_depthwise(work);
  };
  narrow_depthwise(s, 4, in, pads, scratch, pool, std::cref(some));
}

void to_u8_blocked(const float* in, bool blocked, const U8Scale& q, std::uint8_t* out, i64 batch, i64 channels,
                   i64 plane, ThreadPool& pool) {
  const auto& table = isa();
  const auto& narrow = narrow_isa();
  const Sixteen at{blocked, channels, plane};
  parallel_runs(batch, u8_blocks(channels), plane, kRun, kRun * 10, pool,
                [&](i64 image, i64 block, i64 first, i64 pixels) {
                  auto* to = out + ((image * u8_blocks(channels) + block) * plane + first) * kChannels;
                  for (i64 part = 0; part < kChannels; part += kBlock) {
                    const auto c = block * kChannels + part;
                    if (c >= channels) {
                      for (i64 p = 0; p < pixels; ++p) std::fill_n(to + p * kChannels + part, kBlock, std::uint8_t{0});
                      continue;
                    }
                    const auto* from = in + at.place(image, c, first);
                    alignas(64) float values[kRun * kBlock];
                    if (!blocked) {
                      const auto count = std::min(kBlock, channels - c);
                      if (count < kBlock) std::fill_n(values, pixels * kBlock, 0.0f);
                      table.transpose(from, plane, values, kBlock, count, pixels);
                      from = values;
                    }
                    narrow.sixteen_to_u8(from, q.by + c, q.plus + c, q.max_level, to + part, pixels);
                  }
                });
}

void requantize(const std::uint8_t* in, const U8Scale& from, const U8Scale& to, std::uint8_t* out, i64 batch,
                i64 channels, i64 plane, ThreadPool& pool) {
  const auto& table = narrow_isa();
  parallel_runs(batch, u8_blocks(channels), plane, kRun, kRun * 10, pool,
                [&](i64 image, i64 block, i64 first, i64 pixels) {
                  const auto place = ((image * u8_blocks(channels) + block) * plane + first) * kChannels;
                  for (i64 part = 0; part < std::min(kChannels, channels - block * kChannels); part += kBlock) {
                    const auto c = block * kChannels + part;
                    alignas(64) float values[kRun * kBlock];
                    table.sixteen_from_u8(in + place + part, from.low + c, from.scale + c, values, pixels);
                    table.sixteen_to_u8(values, to.by + c, to.plus + c, to.max_level, out + place + part, pixels);
                  }
                });
}

void from_u8_blocked(const std::uint8_t* in, const U8Scale& q, float* out, bool blocked, i64 batch, i64 channels,
                     i64 plane, ThreadPool& pool) {
  const auto& table = isa();
  const Sixteen at{blocked, channels, plane};
  parallel_runs(batch, u8_blocks(channels), plane, kRun, kRun * 10, pool,
                [&](i64 image, i64 block, i64 first, i64 pixels) {
                  const auto* from = in + ((image * u8_blocks(channels) + block) * plane + first) * kChannels;
                  for (i64 part = 0; part < std::min(kChannels, channels - block * kChannels); part += kBlock) {
                    const auto c = block * kChannels + part;
                    alignas(64) float values[kRun * kBlock];
                    auto* to = out + at.place(image, c, first);
                    narrow_isa().sixteen_from_u8(from + part, q.low + c, q.scale + c, blocked ? to : values, pixels);
                    if (!blocked) table.transpose(values, kBlock, to, plane, pixels, std::min(kBlock, channels - c));
                  }
                });
}

}  // namespace ovir::fast
