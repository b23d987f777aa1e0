#include "fast/kernels/convolution/volume_lines.hpp"

#include <array>

#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kTile = 4, kPoints = 6, kTaps = 3;
constexpr i64 kPixelsTogether = 56;      // of a product of a panel
constexpr i64 kFilters = 512 << 10;      // transformed filters of which each chunk reads all
constexpr i64 kTransformed = 128 << 10;  // floats of transformed input of a chunk of its own
constexpr i64 kShared = 4 << 20;         // of what chunks share
constexpr i64 kMaxBlocks = 512;          // of channels
constexpr i64 kFewChannels = 32;
constexpr double kWorthIt = 0.8;  // of the multiplications of direct sums

struct Geometry {
  i64 blocks, panels, tiles, plane;  ///< tiles: along the first axis
  /// Each chunk takes some pixels through all stages in its own memory. Else chunks transform all pixels together,
  /// then each takes panels.
  bool own;
  i64 pixels;  ///< transformed at once

  Geometry(const VolumeShape& v, bool once)
      : blocks(blocks_of(v.slice.channels)),
        panels(ceil_div(v.slice.outputs, kColumns)),
        tiles(ceil_div(v.out_slices, kTile)),
        plane(v.slice.plane()) {
    const auto all = kPoints * blocks * kBlock * tiles * plane;
    own = !once && (all > kShared || kPoints * blocks * kBlock * v.slice.outputs <= kFilters);
    pixels = plane;
    if (!own) return;
    const auto fits = kTransformed / (kPoints * blocks * kBlock * tiles) / isa().pixels * isa().pixels;
    pixels = std::clamp<i64>(fits, std::min<i64>(isa().pixels, plane), plane);
  }
  i64 steps() const { return kPoints * blocks * kBlock; }
  /// Between points; not a multiple of a page, or lines would fall together.
  i64 input_step(i64 count) const { return (blocks * tiles * count + 1) * kBlock; }
  i64 input_size() const { return kPoints * input_step(pixels); }
  static i64 sums_step(i64 count) { return (2 * count + 1) * kBlock; }
  static i64 sums_size() { return kPoints * sums_step(kPixelsTogether); }
};

struct Job {
  const IsaTable& table;
  const VolumeShape& v;
  const Geometry& g;
  const Epilogue& e;
  const float* in;
  float* out;

  /// Line i of blocks × tiles: pixels `which` of a plane.
  void transform(i64 image, Part which, i64 i, float* to) const {
    const auto block = i / g.tiles, tile = i % g.tiles;
    std::array<const float*, kPoints> slices;
    for (i64 s = 0; s < kPoints; ++s) {
      const auto slice = tile * kTile + s - v.pad;
      const bool inside = slice >= 0 && slice < v.slices;
      slices[s] = inside ? in + (image * g.blocks + block) * v.in_block() + slice * v.in_slice() + which.begin * kBlock
                         : nullptr;
    }
    table.line_input(slices.data(), which.size(), to + i * which.size() * kBlock, g.input_step(which.size()));
  }

  /// All that is transformed, pixels `which`, by a panel.
  void panel(const float* from, i64 image, Part which, i64 panel, const float* weights, i64 columns,
             float* sums) const {
    const auto count = which.size(), parts = ceil_div(count, kPixelsTogether);
    std::array<i64, kMaxBlocks> offsets;
    for (i64 b = 0; b < g.blocks; ++b) offsets[b] = b * g.tiles * count * kBlock;
    for (i64 i = 0; i < g.tiles * parts; ++i) {
      const auto tile = i / parts;
      const Part part(count, parts, i % parts);
      for (i64 point = 0; point < kPoints; ++point)
        multiply(from + point * g.input_step(count) + (tile * count + part.begin) * kBlock, offsets.data(), part.size(),
                 weights + point * g.blocks * kBlock * columns, columns, sums + point * g.sums_step(part.size()));
      for (i64 c = 0; c < columns; c += kBlock)
        store(image, tile, which.begin + part.begin, part.size(), panel * kColumns + c,
              sums + c / kBlock * part.size() * kBlock);
    }
  }

 private:
  void multiply(const float* from, const i64* offsets, i64 pixels, const float* weights, i64 columns, float* to) const {
    const auto strips = ceil_div(pixels, table.pixels);
    for (i64 i = 0; i < strips; ++i) {
      const Part part(pixels, strips, i);
      Tile tile{};
      tile.in = from + part.begin * kBlock;
      tile.pixel = kBlock;
      tile.taps = offsets;
      tile.blocks = 1;
      tile.tap_count = g.blocks;
      tile.steps = kBlock;
      tile.weights = weights;
      tile.out = to + part.begin * kBlock;
      tile.out_pixel = kBlock;
      tile.out_block = pixels * kBlock;
      begin(tile, {}, 0, nullptr, 0, 0);
      table.packed(tile, static_cast<int>(part.size()), static_cast<int>(columns));
    }
  }

  void store(i64 image, i64 tile, i64 pixel, i64 pixels, i64 channel, const float* from) const {
    const auto rows = std::min(kTile, v.out_slices - tile * kTile);
    const auto place = (image * blocks_of(v.slice.outputs) + channel / kBlock) * v.out_block() +
                       tile * kTile * v.out_slice() + pixel * kBlock;
    const auto* residual = e.residual ? e.residual + place : nullptr;
    Tile t{};
    t.out = out + place;
    t.out_pixel = kBlock;
    begin(t, e, channel, residual, kBlock, 0);
    table.line_output(from, g.sums_step(pixels),
                      {.bias = t.bias,
                       .residual = t.residual,
                       .low = t.low,
                       .high = t.high,
                       .out = t.out,
                       .row = v.out_slice(),
                       .rows = static_cast<int>(rows),
                       .columns = static_cast<int>(pixels)});
    if (e.is_simple()) return;
    for (i64 r = 0; r < rows; ++r, t.out += v.out_slice())
      finish(table, t, static_cast<int>(pixels), kBlock, e, channel, residual ? residual + r * v.out_slice() : nullptr,
             kBlock, 0);
  }
};

/// `valid` filters, which lie together at `from`, transformed, into sixteen columns of a packed panel of `columns`:
/// [point][block][16][columns].
void pack_columns(const VolumeShape& v, const Geometry& g, const float* from, i64 valid, i64 columns, float* to) {
  alignas(64) std::array<float, kTaps * kBlock * kBlock> rows;
  const auto channels = v.slice.channels;
  for (i64 b = 0; b < g.blocks; ++b) {
    const auto here = std::min(kBlock, channels - b * kBlock);
    if (valid < kBlock || here < kBlock) rows.fill(0.0f);
    isa().transpose(from + b * kBlock * kTaps, channels * kTaps, rows.data(), kBlock, valid, here * kTaps);
    for (i64 c = 0; c < kBlock; ++c)
      isa().line_filter(rows.data() + c * kTaps * kBlock, kBlock, to + (b * kBlock + c) * columns,
                        g.blocks * kBlock * columns);
  }
}

/// Of a thread that packs a panel right before it is used: its filters as they were read, the panel, and sums.
i64 once_room(const VolumeShape& v, const Geometry& g) {
  return kColumns * v.filter_floats() + panels_size(g.steps(), kColumns) + Geometry::sums_size();
}

void transform_all(const Job& job, i64 image, float* to, ThreadPool& pool) {
  const auto& g = job.g;
  parallel_ranges(pool, g.blocks * g.tiles, static_cast<double>(g.plane * kPoints) * 2, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) job.transform(image, Part(0, g.plane), i, to);
  });
}

}  // namespace

bool lines_pay(const VolumeShape& v) {
  const auto& s = v.slice;
  if (!s.is_pointwise() || s.groups > 1 || v.planes != kTaps || v.kernel_planes != kTaps || v.stride != 1 ||
      v.dilation != 1 || s.channels < kFewChannels || s.outputs < kFewChannels || blocks_of(s.channels) > kMaxBlocks)
    return false;
  i64 direct = 0;
  for (i64 z = 0; z < v.out_slices; ++z) direct += v.inside(z).size();
  return static_cast<double>(kPoints * ceil_div(v.out_slices, kTile)) <= kWorthIt * static_cast<double>(direct);
}

i64 lines_filters_size(const VolumeShape& v) { return panels_size(Geometry(v, false).steps(), v.slice.outputs); }

void lines_pack(const VolumeShape& v, const Weights& weights, float* to, ThreadPool& pool) {
  const Geometry g(v, false);
  const auto outputs = v.slice.outputs, each = v.filter_floats();
  const Panels panels{to, g.steps(), outputs};
  Slots rooms(weights.room, weights.file ? round_up(kBlock * each, kBlock) : 0, slots_for(pool));
  parallel_ranges(pool, ceil_div(outputs, kBlock), static_cast<double>(kBlock * each), [&](i64 begin, i64 end) {
    const Slots::Lease room(rooms);
    for (auto i = begin; i < end; ++i) {
      const auto first = i * kBlock, valid = std::min(kBlock, outputs - first), panel = first / kColumns;
      auto* const packed = to + (panels.panel(panel) - to);
      pack_columns(v, g, weights.get(first * each, valid * each, room.data()), valid, panels.columns(panel),
                   packed + first % kColumns);
    }
  });
}

i64 lines_scratch_size(const VolumeShape& v, int threads) {
  const Geometry g(v, false);
  return (g.own ? threads : 1) * g.input_size() + threads * Geometry::sums_size();
}

void lines_convolution(const VolumeShape& v, const float* filters, const float* in, float* out,
                       const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (v.out_volume() == 0) return;
  const Geometry g(v, false);
  const Job job{isa(), v, g, epilogue, in, out};
  const Panels all{filters, g.steps(), v.slice.outputs};
  const auto input = g.input_size();
  if (g.own) {
    const auto parts = ceil_div(g.plane, g.pixels);
    Slots slots(scratch, input + Geometry::sums_size(), slots_for(pool));
    parallel(pool, v.slice.batch * parts, [&](i64 chunk) {
      const Part which(g.plane, parts, chunk % parts);
      const Slots::Lease room(slots);
      for (i64 i = 0; i < g.blocks * g.tiles; ++i) job.transform(chunk / parts, which, i, room.data());
      for (i64 panel = 0; panel < g.panels; ++panel)
        job.panel(room.data(), chunk / parts, which, panel, all.panel(panel), all.columns(panel), room.data() + input);
    });
  } else {
    Slots slots(scratch + input, Geometry::sums_size(), slots_for(pool));
    for (i64 image = 0; image < v.slice.batch; ++image) {
      transform_all(job, image, scratch, pool);
      parallel(pool, g.panels, [&](i64 panel) {
        const Slots::Lease room(slots);
        job.panel(scratch, image, Part(0, g.plane), panel, all.panel(panel), all.columns(panel), room.data());
      });
    }
  }
  clear_padding(v, epilogue.activation, out);
}

bool lines_pack_by_panels(const VolumeShape& v) {
  const Geometry g(v, true);
  return v.slice.batch == 1 && g.panels >= kOncePanels && g.input_size() <= kShared;
}

i64 lines_once_scratch_size(const VolumeShape& v, int threads) {
  const Geometry g(v, true);
  return g.input_size() + threads * once_room(v, g);
}

void lines_convolution_once(const VolumeShape& v, const Weights& weights, const float* in, float* out,
                            const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (v.out_volume() == 0) return;
  const Geometry g(v, true);
  const Job job{isa(), v, g, epilogue, in, out};
  const auto outputs = v.slice.outputs, each = v.filter_floats();
  transform_all(job, 0, scratch, pool);
  Slots rooms(scratch + g.input_size(), once_room(v, g), slots_for(pool));
  parallel(pool, g.panels, [&](i64 panel) {
    const Slots::Lease room(rooms);
    auto *const packed = room.data() + kColumns * each, *const sums = packed + panels_size(g.steps(), kColumns);
    const auto first = panel * kColumns, valid = std::min(kColumns, outputs - first),
               columns = valid > kBlock ? kColumns : kBlock;
    const auto* const read = weights.get(first * each, valid * each, room.data());
    for (i64 half = 0; half < columns; half += kBlock)
      pack_columns(v, g, read + half * each, std::min(kBlock, valid - half), columns, packed + half);
    job.panel(scratch, 0, Part(0, g.plane), panel, packed, columns, sums);
  });
  clear_padding(v, epilogue.activation, out);
}

}  // namespace ovir::fast
