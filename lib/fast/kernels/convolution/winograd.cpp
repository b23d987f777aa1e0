#include "fast/kernels/convolution/winograd.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "fast/kernels/convolution/winograd_regions.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kOncePacked = 160 << 10;  // floats of a panel that are packed at once
constexpr i64 kStored = 16;             // tiles, before what follows their sums is computed in the first-level cache

/// The same without groups, which have whole blocks: these lie as images do.
VolumeShape seen(const VolumeShape& of) {
  auto v = of;
  auto& s = v.slice;
  v.slices *= s.groups;
  v.out_slices *= s.groups;
  s.channels = of.slice.group_channels();
  s.outputs = of.slice.group_outputs();
  s.groups = 1;
  return v;
}

/// Steps of the sum for a block of channels: of a single one those that it has.
i64 steps_of_block(const VolumeShape& v) { return std::min(kBlock, v.slice.channels); }

/// Of a thread that packs a panel right before it is used: its filters as they were read, what is packed of it, and all
/// sums, or those of a run where it is packed at once. Blocks of channels are packed in so many parts.
struct OnceRoom {
  i64 parts, read, packed, sums;
  OnceRoom(const VolumeShape& v, const WinogradRegions& g);
  i64 size() const { return read + packed + sums; }
};

struct Job {
  const IsaTable& table;
  const VolumeShape& v;
  const ConvolutionShape& s;
  const WinogradRegions& g;
  const Epilogue& e;
  const float* in;
  float* out;
  i64 groups = 1;

  /// Row i of slices × blocks × rows of tiles.
  void transform(const WinogradTransformed& to, i64 image, const WinogradRegion& r, i64 i) const {
    const auto row = i % r.rows.size(), block = i / r.rows.size() % g.blocks,
               slice = to.first + i / r.rows.size() / g.blocks;
    const auto* plane = in + (image * g.blocks + block) * v.in_block() + slice * v.in_slice();
    const auto columns = r.of_row(row);
    const auto first = row * r.columns.size() + columns.begin - r.columns.begin - r.before;
    auto* at = to.data + ((block * to.slices() + slice - to.first) * to.tiles + first) * kBlock;
    for (i64 x = 0, count = 1; x < columns.size(); x += count) {
      const auto column = columns.begin + x;
      if (is_line(g.tile))
        count = lines(plane, r.rows.begin + row, column, columns.size() - x, at + x * kBlock, to.step);
      else tile(plane, r.rows.begin + row, column, at + x * kBlock, to.step);
    }
  }
  void transform(const WinogradTransformed& to, i64 image, const WinogradRegion& r, ThreadPool& pool) const {
    parallel_ranges(pool, rows(to, r), static_cast<double>(r.columns.size() * g.points) * 2, [&](i64 begin, i64 end) {
      for (auto row = begin; row < end; ++row) transform(to, image, r, row);
    });
  }
  i64 rows(const WinogradTransformed& to, const WinogradRegion& r) const {
    return to.slices() * g.blocks * r.rows.size();
  }

  /// part(run) for all tiles of a region.
  template <class Each>
  void for_runs(const WinogradRegion& r, i64 tiles, Each each) const {
    for (auto z = r.slices.begin; z < r.slices.end;) {
      const auto planes = v.inside(z);
      auto end = z + 1;
      while (v.stride == 1 && groups == 1 && end < r.slices.end && v.inside(end).begin == planes.begin &&
             v.inside(end).end == planes.end)
        ++end;
      const auto count = (end - z) * tiles, parts = ceil_div(count, WinogradRegions::kTilesTogether);
      for (i64 i = 0; i < parts; ++i) each(WinogradRun{{z, end}, planes, Part(count, parts, i)});
      z = end;
    }
  }

  /// Tiles of a run by some blocks of channels of a panel, whose filters are those; `adds`: to the sums that are there.
  void multiply(const WinogradTransformed& from, const WinogradRun& run, Part part, const float* weights, i64 filled,
                bool adds, float* sums) const {
    const auto columns = columns_of(filled);
    const auto here = run.tiles.size(), strips = ceil_div(here, table.pixels),
               point_size = v.planes * part.size() * steps_of_block(v) * columns;
    const auto slice = run.planes.size() > 0 ? v.slice_of(run.slices.begin, run.planes.begin) - from.first : 0;
    std::array<i64, WinogradRegions::kMaxBlocks> offsets;
    for (i64 b = 0; b < part.size(); ++b) offsets[b] = (part.begin + b) * from.slices() * from.tiles * kBlock;
    for (i64 point = 0; point < g.points; ++point) {
      const auto* filters = weights + point * point_size;
      Ahead ahead;
      ahead.next = reinterpret_cast<const char*>(filters + point_size);
      ahead.end = point + 1 < g.points ? reinterpret_cast<const char*>(filters + 2 * point_size) : ahead.next;
      ahead.lines = ceil_div(2 * kBlock, strips);
      Tile tile{};
      const bool alone = run.planes.size() == 1;  // then blocks of channels need no offsets
      tile.in =
          from.data + point * from.step + (slice * from.tiles + run.tiles.begin) * kBlock + (alone ? offsets[0] : 0);
      tile.pixel = kBlock;
      tile.block = (alone ? from.slices() : v.dilation) * from.tiles * kBlock;
      tile.taps = alone ? kOneTap : offsets.data();
      tile.blocks = alone ? part.size() : run.planes.size();
      tile.tap_count = alone ? 1 : part.size();
      tile.steps = steps_of_block(v);
      if (alone && part.end == g.blocks) tile.last_steps = s.channels % kBlock;
      tile.filled = filled;
      tile.weights = filters + run.planes.begin * part.size() * tile.steps * columns;
      tile.out = sums + point * g.sums_step(run);
      tile.out_pixel = kBlock;
      tile.out_block = here * kBlock;
      tile.ahead = &ahead;
      begin(tile, {}, 0, adds ? tile.out : nullptr, tile.out_pixel, tile.out_block);
      table.packed(tile, here, static_cast<int>(columns));
    }
  }

  /// The pixels of a run's tiles, from all sums.
  void store(const WinogradTransformed& from, i64 image, const WinogradRegion& r, const WinogradRun& run, i64 panel,
             i64 columns, const float* sums) const {
    const auto here = run.tiles.size(), across = r.columns.size();
    for (i64 t = 0, count = 0; t < here; t += count) {
      const auto tile = run.tiles.begin + t, z = run.slices.begin + tile / from.tiles,
                 place = tile % from.tiles + r.before, y = r.rows.begin + place / across,
                 x = r.columns.begin + place % across;
      count = stored_together(x, std::min(across - place % across, here - t));
      for (i64 c = 0; c < columns; c += kBlock)
        store(image, z, y, x, count, panel * kColumns + c, sums + (t + c / kBlock * here) * kBlock, g.sums_step(run));
    }
  }

  /// Both, by a whole panel.
  void by_panel(const WinogradTransformed& from, i64 image, const WinogradRegion& r, i64 panel, const Panels& all,
                const WinogradRun& run, float* sums) const {
    const auto* filters = all.panel(panel) + run.slices.begin % groups * panels_size(all.k, all.n);
    multiply(from, run, {0, g.blocks}, filters, all.filled(panel), false, sums);
    store(from, image, r, run, panel, all.columns(panel), sums);
  }

 private:
  /// Tile (ty, tx) of a slice's block and those beside it, of `most`, that are read alike; they are lines. Returns how
  /// many.
  i64 lines(const float* plane, i64 ty, i64 tx, i64 most, float* to, i64 step) const {
    const auto y = g.y.first(ty) * g.y.stride - s.pad_top, x = g.x.first(tx) * g.x.stride - s.pad_left;
    const bool upright = g.is_upright(), padded = s.pad_left > 0 || s.out_width > s.width;
    const auto further = g.x.distance() * g.x.stride;
    const auto count = !upright ? g.x.follow(tx, most, x, g.x.window, further, s.width) : (padded ? 1 : most);
    std::array<const float*, kMaxWinogradPoints> pixels;
    for (i64 i = 0; i < g.points; ++i) {
      const auto from_y = upright ? y + i * g.y.apart : y, from_x = upright ? x : x + i * g.x.apart;
      const bool inside = from_y >= 0 && from_y < s.height && from_x >= 0 && from_x < s.width;
      pixels[i] = inside ? plane + (from_y * s.width + from_x) * kBlock : nullptr;
    }
    table.line_input(g.tile, pixels.data(), count, further * kBlock, to, step);
    return count;
  }
  /// How many tiles from column tx on, of `most` in a row, are stored at once.
  i64 stored_together(i64 tx, i64 most) const {
    if (!is_line(g.tile)) return g.x.apart == 1 ? std::min(most, kStored) : 1;
    return g.is_upright() ? most : g.x.follow(tx, most, g.x.first(tx), g.x.size, g.x.distance(), s.out_width);
  }

  /// Tile (ty, tx) of a slice's block.
  void tile(const float* plane, i64 ty, i64 tx, float* to, i64 step) const {
    const auto y = g.y.first(ty) * g.y.stride - s.pad_top, x = g.x.first(tx) * g.x.stride - s.pad_left,
               row = s.width * kBlock;
    const auto lanes = steps_of_block(v);  // the product reads no others
    const auto down = g.y.window, across = g.x.window, y_apart = g.y.apart, x_apart = g.x.apart;
    if (y >= 0 && x >= 0 && y + (down - 1) * y_apart < s.height && x + (across - 1) * x_apart < s.width)
      return table.winograd_input(g.tile, plane + y * row + x * kBlock, y_apart * row, x_apart * kBlock, to, step,
                                  lanes);
    alignas(64) std::array<float, kMaxWinogradPoints * kBlock> window;
    for (i64 i = 0; i < down; ++i)
      for (i64 j = 0; j < across; ++j) {
        auto* pixel = window.data() + (i * across + j) * kBlock;
        const auto from_y = y + i * y_apart, from_x = x + j * x_apart;
        if (from_y >= 0 && from_y < s.height && from_x >= 0 && from_x < s.width)
          std::copy_n(plane + from_y * row + from_x * kBlock, kBlock, pixel);
        else std::fill_n(pixel, kBlock, 0.0f);
      }
    table.winograd_input(g.tile, window.data(), across * kBlock, kBlock, to, step, lanes);
  }

  /// Tile (ty, tx) and those beside it, `count` in all, from the sums of sixteen channels.
  void store(i64 image, i64 z, i64 ty, i64 tx, i64 count, i64 channel, const float* from, i64 step) const {
    const auto y = g.y.first(ty), x = g.x.first(tx), width = s.out_width * kBlock;
    const auto place =
        (image * blocks_of(s.outputs) + channel / kBlock) * v.out_block() + z * v.out_slice() + y * width + x * kBlock;
    Tile tile{};
    tile.out = out + place;
    tile.filled = std::min(kBlock, s.outputs - channel);
    const auto of_all = z % groups * s.outputs + channel;
    begin(tile, e, of_all, e.residual ? e.residual + place : nullptr, 0, 0);
    WinogradPixels to{.bias = tile.bias,
                      .residual = tile.residual,
                      .low = tile.low,
                      .high = tile.high,
                      .out = tile.out,
                      .row = width * g.y.apart,
                      .column = kBlock * g.x.apart,
                      .rows = static_cast<int>(g.y.pixels(y, s.out_height)),
                      .columns = 0,
                      .lanes = tile.filled};
    if (is_line(g.tile)) {
      if (!g.is_upright()) {
        to.row = kBlock * g.x.apart;
        to.rows = static_cast<int>(g.x.pixels(x, s.out_width));
      }
      to.column = kBlock * g.x.distance();
      to.columns = static_cast<int>(count);
      table.line_output(g.tile, from, step, to);
      const bool together = to.row == kBlock && (to.column == to.rows * to.row || count == 1);
      if (together) {
        to.columns *= std::exchange(to.rows, 1);
        to.column = kBlock;
      }
    } else {
      auto at = to;
      for (i64 i = 0; i < count; ++i) {
        at.columns = static_cast<int>(g.x.pixels(g.x.first(tx + i), s.out_width));
        table.winograd_output(g.tile, from + i * kBlock, step, at);
        at.out += at.columns * at.column;
        if (at.residual) at.residual += at.columns * at.column;
        to.columns += at.columns;
      }
    }
    if (e.is_simple()) return;
    tile.out_pixel = to.column;
    for (int r = 0; r < to.rows; ++r, tile.out += to.row)
      finish(table, tile, to.columns, kBlock, e, of_all, e.residual ? e.residual + place + r * to.row : nullptr,
             to.column, 0);
  }
};

/// Some blocks of channels of `valid` filters, which lie together at `from`, transformed, into sixteen columns of a
/// packed panel of `columns`: [point][plane][block][step][columns]. They are transposed first, so that a vector has
/// sixteen outputs.
void pack_columns(const VolumeShape& v, const WinogradRegions& g, const float* from, i64 valid, Part blocks,
                  i64 columns, float* to) {
  alignas(64) std::array<float, WinogradRegions::kMaxTaken * kBlock * kBlock> rows;
  const auto taps = v.slice.taps(), each = v.kernel_planes * taps, channels = v.slice.channels,
             steps = steps_of_block(v);
  for (auto b = blocks.begin; b < blocks.end; ++b) {
    const auto here = std::min(kBlock, channels - b * kBlock);
    if (valid < kBlock || here < kBlock) rows.fill(0.0f);
    isa().transpose(from + b * kBlock * each, channels * each, rows.data(), kBlock, valid, here * each);
    for (i64 p = 0; p < v.planes; ++p)
      for (i64 c = 0; c < steps; ++c) {
        const auto* taken = rows.data() + (c * each + (v.first_plane + p) * taps) * kBlock;
        auto* const point = to + ((p * blocks.size() + b - blocks.begin) * steps + c) * columns;
        const auto step = v.planes * blocks.size() * steps * columns;
        if (is_line(g.tile)) isa().line_filter(g.tile, taken, kBlock, point, step);
        else isa().winograd_filter(g.tile, taken, kBlock, point, step);
      }
  }
}

i64 panel_steps(const VolumeShape& v, const WinogradRegions& g) {
  return g.points * v.planes * g.blocks * steps_of_block(v);
}

OnceRoom::OnceRoom(const VolumeShape& v, const WinogradRegions& g) {
  const auto block = panels_size(g.points * v.planes * kBlock, kColumns);
  parts = ceil_div(g.blocks, std::max<i64>(kOncePacked / block, 1));
  read = kColumns * v.filter_floats();
  packed = block * ceil_div(g.blocks, parts);
  const auto tiles = v.out_slices * g.down * g.across,
             runs = v.out_slices + ceil_div(tiles, WinogradRegions::kTilesTogether);
  sums = parts == 1 ? g.max_sums_size() : g.points * (2 * tiles + runs) * kBlock;
}

}  // namespace

i64 winograd_filters_size(const VolumeShape& shape, WinogradTile tile) {
  const auto v = seen(shape);
  return shape.slice.groups * panels_size(panel_steps(v, WinogradRegions(v, tile, 1)), v.slice.outputs);
}

void winograd_pack(const VolumeShape& shape, WinogradTile tile, const Weights& weights, float* to, ThreadPool& pool) {
  const auto v = seen(shape);
  const WinogradRegions g(v, tile, 1);
  const auto outputs = v.slice.outputs, each = v.filter_floats(), parts = ceil_div(outputs, kBlock);
  const auto steps = panel_steps(v, g);
  const auto cost = static_cast<double>(kBlock * (each + 2 * steps)) / 8;
  Slots rooms(weights.room, weights.file ? round_up(kBlock * each, kBlock) : 0, slots_for(pool));
  parallel_ranges(pool, shape.slice.groups * parts, cost, [&](i64 begin, i64 end) {
    const Slots::Lease room(rooms);
    for (auto i = begin; i < end; ++i) {
      const auto group = i / parts, first = i % parts * kBlock, valid = std::min(kBlock, outputs - first),
                 panel = first / kColumns;
      auto* const all = to + group * panels_size(steps, outputs);
      const Panels panels{all, steps, outputs};
      pack_columns(v, g, weights.get((group * outputs + first) * each, valid * each, room.data()), valid, {0, g.blocks},
                   panels.columns(panel), all + (panels.panel(panel) - all) + first % kColumns);
    }
  });
}

i64 winograd_scratch_size(const VolumeShape& shape, WinogradTile tile, int threads) {
  const auto v = seen(shape);
  const WinogradRegions few(v, tile, 1), many(v, tile, WinogradRegions::kNoChunks);  // it may be run by fewer threads
  if (few.chunks == 0) return few.scratch_size(v, threads);
  return std::max(few.scratch_size(v, std::min<i64>(threads, v.slice.batch * few.chunks)),
                  many.scratch_size(v, threads));
}

void winograd_convolution(const VolumeShape& shape, WinogradTile tile, const float* filters, const float* in,
                          float* out, const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (shape.out_volume() == 0) return;
  const auto v = seen(shape);
  const WinogradRegions g(v, tile, pool.threads());
  const Job job{isa(), v, v.slice, g, epilogue, in, out, shape.slice.groups};
  const Panels all{filters, panel_steps(v, g), v.slice.outputs};
  const auto regions = g.regions(v), input = g.input_size(v);
  if (g.own) {
    Slots slots(scratch, input + g.max_sums_size(), slots_for(pool));
    parallel(pool, v.slice.batch * regions, [&](i64 chunk) {
      const auto image = chunk / regions;
      const auto r = g.region(v, chunk % regions);
      const Slots::Lease room(slots);
      const WinogradTransformed transformed(v, g, r, room.data());
      for (i64 i = 0; i < job.rows(transformed, r); ++i) job.transform(transformed, image, r, i);
      for (i64 panel = 0; panel < g.panels; ++panel)
        job.for_runs(r, transformed.tiles, [&](const WinogradRun& run) {
          job.by_panel(transformed, image, r, panel, all, run, room.data() + input);
        });
    });
  } else {
    Slots slots(scratch + input, g.max_sums_size(), slots_for(pool));
    for (i64 i = 0; i < v.slice.batch * regions; ++i) {
      const auto image = i / regions;
      const auto r = g.region(v, i % regions);
      const WinogradTransformed transformed(v, g, r, scratch);
      job.transform(transformed, image, r, pool);
      i64 runs = 0;
      job.for_runs(r, transformed.tiles, [&](const WinogradRun&) { ++runs; });
      parallel(pool, g.panels * runs, [&](i64 chunk) {
        const auto panel = chunk % g.panels;
        const Slots::Lease room(slots);
        i64 at = 0;
        job.for_runs(r, transformed.tiles, [&](const WinogradRun& run) {
          if (at++ == chunk / g.panels) job.by_panel(transformed, image, r, panel, all, run, room.data());
        });
      });
    }
  }
  clear_padding(shape, epilogue.activation, out);
}

bool winograd_packs_by_panels(const VolumeShape& shape, WinogradTile tile) {
  const auto v = seen(shape);
  const auto g = WinogradRegions::once(v, tile);
  return v.slice.batch == 1 && shape.slice.groups == 1 && g.regions(v) == 1 && g.panels >= kOncePanels;
}

i64 winograd_once_scratch_size(const VolumeShape& shape, WinogradTile tile, int threads) {
  const auto v = seen(shape);
  const auto g = WinogradRegions::once(v, tile);
  return g.input_size(v) + threads * OnceRoom(v, g).size();
}

void winograd_convolution_once(const VolumeShape& shape, WinogradTile tile, const Weights& weights, const float* in,
                               float* out, const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (shape.out_volume() == 0) return;
  const auto v = seen(shape);
  const auto g = WinogradRegions::once(v, tile);
  const Job job{isa(), v, v.slice, g, epilogue, in, out};
  const OnceRoom size(v, g);
  const auto r = g.region(v, 0);
  const WinogradTransformed transformed(v, g, r, scratch);
  const auto outputs = v.slice.outputs, each = v.filter_floats();
  job.transform(transformed, 0, r, pool);
  Slots rooms(scratch + g.input_size(v), size.size(), slots_for(pool));
  parallel(pool, g.panels, [&](i64 panel) {
    const Slots::Lease room(rooms);
    auto *const packed = room.data() + size.read, *const sums = packed + size.packed;
    const auto first = panel * kColumns, valid = std::min(kColumns, outputs - first), columns = columns_of(valid);
    const auto* const read = weights.get(first * each, valid * each, room.data());
    for (i64 i = 0; i < size.parts; ++i) {
      const Part blocks(g.blocks, size.parts, i);
      for (i64 half = 0; half < columns; half += kBlock)
        pack_columns(v, g, read + half * each, std::min(kBlock, valid - half), blocks, columns, packed + half);
      auto* at = sums;
      job.for_runs(r, transformed.tiles, [&](const WinogradRun& run) {
        job.multiply(transformed, run, blocks, packed, valid, i > 0, at);
        if (i + 1 == size.parts) job.store(transformed, 0, r, run, panel, columns, at);
        if (size.parts > 1) at += g.sums_size(run);
      });
    }
  });
  clear_padding(shape, epilogue.activation, out);
}

}  // namespace ovir::fast
