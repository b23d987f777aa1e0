#include "fast/kernels/convolution/clipped.hpp"

#include <array>

#include "fast/kernels/convolution/reached.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kFewestChannels = 32, kManyChannels = 128;
constexpr i64 kBandFloats = 96 << 10;  // of input, while the taps of a panel go by
constexpr double kMostInside = 0.8;    // of all taps of all pixels

i64 row_of(const ConvolutionShape& s, i64 tap) { return tap / s.kernel_width * s.dilation_y - s.pad_top; }
i64 column_of(const ConvolutionShape& s, i64 tap) { return tap % s.kernel_width * s.dilation_x - s.pad_left; }

Panels panels_of(const ConvolutionShape& s, const float* filters) {
  return {filters, s.taps() * blocks_of(s.channels) * kBlock, s.outputs};
}

struct Job {
  const IsaTable& table;
  const ConvolutionShape& s;
  const float* in;
  float* out;
  const Epilogue& epilogue;

  /// Output rows [begin, end) of the columns of a panel: tap by tap, whose weights stay in the cache.
  void rows(i64 image, i64 panel, const float* weights, i64 columns, i64 begin, i64 end) const {
    const auto tiles = ceil_div(s.out_width, table.pixels), blocks = blocks_of(s.channels);
    const auto* from = in + image * blocks * s.plane() * kBlock;
    for (auto y = begin; y < end; ++y) start(place(image, panel, y), panel * kColumns, columns);
    for (i64 tap = 0; tap < s.taps(); ++tap) {
      const auto dy = row_of(s, tap), dx = column_of(s, tap);
      const Inside vertical(dy, s.stride_y, s.height, begin, end);
      for (auto y = vertical.begin; y < vertical.end; ++y)
        for (i64 i = 0; i < tiles; ++i) {
          const Part part(s.out_width, tiles, i);
          const Inside across(dx, s.stride_x, s.width, part.begin, part.end);
          if (across.size() == 0) continue;
          Tile tile{};
          tile.in = from + ((y * s.stride_y + dy) * s.width + across.begin * s.stride_x + dx) * kBlock;
          tile.pixel = s.stride_x * kBlock;
          tile.block = s.plane() * kBlock;
          tile.taps = kOneTap;
          tile.blocks = blocks;
          tile.tap_count = 1;
          tile.steps = kBlock;
          tile.last_steps = s.channels % kBlock;
          tile.weights = weights + tap * blocks * kBlock * columns;
          tile.filled = std::min(columns, s.outputs - panel * kColumns);
          tile.out = out + place(image, panel, y) + across.begin * kBlock;
          tile.out_pixel = kBlock;
          tile.out_block = s.out_plane() * kBlock;
          // The tile adds to what is there.
          ovir::fast::begin(tile, {}, 0, tile.out, tile.out_pixel, tile.out_block);
          table.packed(tile, across.size(), static_cast<int>(columns));
        }
    }
    for (auto y = begin; y < end; ++y) finish(place(image, panel, y), panel * kColumns, columns);
  }

 private:
  i64 place(i64 image, i64 panel, i64 y) const {
    const auto block = image * blocks_of(s.outputs) + panel * (kColumns / kBlock);
    return (block * s.out_plane() + y * s.out_width) * kBlock;
  }

  bool adds_last() const { return epilogue.residual && !epilogue.is_simple() && epilogue.residual_last; }

  /// Bias and residual of a row.
  void start(i64 at, i64 column, i64 columns) const {
    const auto* residual = adds_last() ? nullptr : epilogue.residual;
    for (i64 c = 0; c < columns; c += kBlock, at += s.out_plane() * kBlock) {
      const auto* bias = epilogue.bias ? epilogue.bias + column + c : nullptr;
      for (i64 i = 0; i < s.out_width * kBlock; ++i)
        out[at + i] = (residual ? residual[at + i] : 0) + (bias ? bias[i % kBlock] : 0);
    }
  }

  void finish(i64 at, i64 column, i64 columns) const {
    if (!epilogue.has_activation()) return;
    for (i64 c = 0; c < columns; c += kBlock, at += s.out_plane() * kBlock)
      table.activate(epilogue.activation, epilogue.slopes ? epilogue.slopes + column + c : nullptr, out + at, kBlock,
                     adds_last() ? epilogue.residual + at : nullptr, kBlock, s.out_width, kBlock);
  }
};

/// `valid` filters, which lie together at `from`, into sixteen columns of a packed panel of `columns`:
/// [tap][channel][columns].
void pack_columns(const ConvolutionShape& s, const float* from, i64 valid, i64 columns, float* to) {
  constexpr i64 kRows = 64;  // transposed at a time
  const auto taps = s.taps(), each = s.channels * taps, channels = blocks_of(s.channels) * kBlock;
  if (valid < kBlock || channels > s.channels)
    for (i64 i = 0; i < taps * channels; ++i) std::fill_n(to + i * columns, kBlock, 0.0f);
  alignas(64) std::array<float, kRows * kBlock> rows;
  for (i64 first = 0; first < each; first += kRows) {
    const auto count = std::min(kRows, each - first);
    isa().transpose(from + first, each, rows.data(), kBlock, valid, count);
    for (i64 r = 0; r < count; ++r) {
      const auto channel = (first + r) / taps, tap = (first + r) % taps;
      std::copy_n(rows.data() + r * kBlock, valid, to + (tap * channels + channel) * columns);
    }
  }
}

/// Of a thread that packs a panel right before it is used: its filters as they were read, and the panel.
i64 once_room(const ConvolutionShape& s) { return kColumns * (s.channels + blocks_of(s.channels) * kBlock) * s.taps(); }

}  // namespace

bool clipped_pays(const ConvolutionShape& s) {
  if (s.groups > 1 || s.taps() == 1 || s.channels < kFewestChannels || std::max(s.dilation_x, s.dilation_y) == 1)
    return false;
  if (s.channels >= kManyChannels) return true;
  i64 inside = 0;
  for (i64 tap = 0; tap < s.taps(); ++tap)
    inside += Inside(row_of(s, tap), s.stride_y, s.height, 0, s.out_height).size() *
              Inside(column_of(s, tap), s.stride_x, s.width, 0, s.out_width).size();
  return static_cast<double>(inside) < kMostInside * static_cast<double>(s.taps() * s.out_plane());
}

i64 clipped_filters_size(const ConvolutionShape& s) { return panels_size(panels_of(s, nullptr).k, s.outputs); }

void clipped_pack(const ConvolutionShape& s, const Weights& weights, float* to, ThreadPool& pool) {
  const auto panels = panels_of(s, to);
  const auto each = s.channels * s.taps();
  Slots rooms(weights.room, weights.file ? std::min(kBlock, s.outputs) * each : 0, slots_for(pool));
  parallel_ranges(pool, ceil_div(s.outputs, kBlock), static_cast<double>(kBlock * each) / 3, [&](i64 begin, i64 end) {
    const Slots::Lease room(rooms);
    for (auto i = begin; i < end; ++i) {
      const auto first = i * kBlock, valid = std::min(kBlock, s.outputs - first), panel = first / kColumns;
      auto* const packed = to + (panels.panel(panel) - to);
      pack_columns(s, weights.get(first * each, valid * each, room.data()), valid, panels.columns(panel),
                   packed + first % kColumns);
    }
  });
}

void clipped_convolution(const ConvolutionShape& s, const float* filters, const float* in, float* out,
                         const Epilogue& epilogue, ThreadPool& pool) {
  if (s.out_plane() == 0) return;
  const Job job{isa(), s, in, out, epilogue};
  const auto all = panels_of(s, filters);
  const auto work = s.multiplications() / 40;
  const auto wanted = static_cast<i64>(std::clamp(work / static_cast<double>(kChunkWork), 1.0, 64.0));
  const auto bands = std::clamp<i64>(ceil_div(wanted, s.batch * all.count()), 1, s.out_height);
  parallel(pool, s.batch * all.count() * bands, [&](i64 chunk) {
    const auto panel = chunk / bands % all.count();
    const Part band(s.out_height, bands, chunk % bands);
    job.rows(chunk / (bands * all.count()), panel, all.panel(panel), all.columns(panel), band.begin, band.end);
  });
  clear_padding(s, epilogue.activation, out);
}

bool clipped_packs_by_panels(const ConvolutionShape& s) { return s.outputs >= kOncePanels * kColumns; }

i64 clipped_once_scratch_size(const ConvolutionShape& s, int threads) { return threads * once_room(s); }

void clipped_convolution_once(const ConvolutionShape& s, const Weights& weights, const float* in, float* out,
                              const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (s.out_plane() == 0) return;
  const Job job{isa(), s, in, out, epilogue};
  const auto each = s.channels * s.taps(), input = blocks_of(s.channels) * s.plane() * kBlock;
  const auto bands = std::clamp<i64>(ceil_div(input, kBandFloats), 1, s.out_height);
  Slots rooms(scratch, once_room(s), slots_for(pool));
  parallel(pool, ceil_div(s.outputs, kColumns), [&](i64 panel) {
    const Slots::Lease room(rooms);
    auto* const packed = room.data() + kColumns * each;
    const auto first = panel * kColumns, valid = std::min(kColumns, s.outputs - first),
               columns = valid > kBlock ? kColumns : kBlock;
    const auto* const read = weights.get(first * each, valid * each, room.data());
    for (i64 half = 0; half < columns; half += kBlock)
      pack_columns(s, read + half * each, std::min(kBlock, valid - half), columns, packed + half);
    for (i64 i = 0; i < s.batch * bands; ++i) {
      const Part band(s.out_height, bands, i % bands);
      job.rows(i / bands, panel, packed, columns, band.begin, band.end);
    }
  });
  clear_padding(s, epilogue.activation, out);
}

}  // namespace ovir::fast
