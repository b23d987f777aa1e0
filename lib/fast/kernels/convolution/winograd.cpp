#include "fast/kernels/convolution/winograd.hpp"

#include <array>

#include "fast/kernels/convolution/winograd_axis.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kTilesTogether = 56;       // of a product of a panel
constexpr i64 kFewTiles = 28;            // for which filters are read again
constexpr i64 kFilters = 192 << 10;      // transformed filters of a plane of which each chunk reads all
constexpr i64 kTransformed = 128 << 10;  // floats of transformed input of a chunk of its own
constexpr i64 kShared = 2 << 20;         // of what chunks share
constexpr i64 kOnceShared = 4 << 20;     // the same, where filters are packed panel by panel
constexpr i64 kOncePacked = 160 << 10;   // floats of a panel that are packed at once
constexpr i64 kMaxBlocks = 512;          // of channels
constexpr i64 kMaxPlanes = 5;            // of a kernel, whose filters are transposed together

// The filters of groups are few beside what is transformed.
constexpr i64 kLeastSideOfGroups = 12, kLeastSideOfSmallGroups = 32;
constexpr double kLeastUsed = 0.7;  // of the tiles' pixels

/// A tile's output pixels along an axis of so many taps.
i64 side(int m, i64 taps) { return m != kWinogradLine ? m : (taps == 1 ? 1 : 4); }
WinogradAxis axis_y(const ConvolutionShape& s, int m) { return {s.out_height, side(m, s.kernel_height), s.dilation_y}; }
WinogradAxis axis_x(const ConvolutionShape& s, int m) { return {s.out_width, side(m, s.kernel_width), s.dilation_x}; }

/// The same without groups, which have whole blocks: these lie as images do. And a line in slices of height 1 is
/// turned, as regions have whole rows of tiles where they can.
VolumeShape seen(const VolumeShape& of) {
  auto v = of;
  auto& s = v.slice;
  v.slices *= s.groups;
  v.out_slices *= s.groups;
  s.channels = of.slice.group_channels();
  s.outputs = of.slice.group_outputs();
  s.groups = 1;
  if (s.height > 1 || s.out_height > 1 || s.kernel_height > 1) return v;
  std::swap(s.height, s.width);
  std::swap(s.out_height, s.out_width);
  std::swap(s.kernel_height, s.kernel_width);
  std::swap(s.dilation_y, s.dilation_x);
  std::swap(s.pad_top, s.pad_left);
  return v;
}

/// Output slices, and tiles.
struct Region {
  Part slices, rows, columns;
  i64 tiles() const { return rows.size() * columns.size(); }  ///< of a slice
};

/// Output slices whose tiles are multiplied together, for they meet the same planes of the kernel, and some of the
/// tiles, counted through the slices.
struct Run {
  Part slices, planes, tiles;
};

struct Geometry {
  int m;
  WinogradAxis y, x;
  i64 points, across, down, blocks, panels;
  /// The filters are small: each chunk takes a region through all stages in its own memory. Else chunks transform a
  /// region together, then each takes panels.
  bool own;
  i64 rows, columns, deep;  ///< of a region

  Geometry(const VolumeShape& v, int tile, bool once = false)
      : m(tile),
        y(axis_y(v.slice, tile)),
        x(axis_x(v.slice, tile)),
        points(y.window() * x.window()),
        across(std::max<i64>(x.tiles, 1)),
        down(std::max<i64>(y.tiles, 1)),
        blocks(blocks_of(v.slice.channels)),
        panels(ceil_div(v.slice.outputs, kColumns)) {
    const auto filters = points * blocks * kBlock * v.slice.outputs;
    own = !once && filters <= kFilters;
    const auto shared = once ? std::max(kOnceShared, filters / 4) : kShared;  // filters need no room beside it
    const auto most = own ? kTransformed : shared, tiles = most / (points * blocks * kBlock);
    deep = v.out_slices;
    if (own) {
      deep = std::clamp<i64>((tiles / across - (v.planes - 1) * v.dilation) / v.stride, 1, v.out_slices);
      deep = ceil_div(v.out_slices, ceil_div(v.out_slices, deep));
    }
    const auto there = std::max<i64>(own ? deep : v.slices, 1);  // slices that are transformed
    columns = ceil_div(across, ceil_div(across * there, std::max(tiles, there)));
    rows = std::clamp<i64>(tiles / (columns * there), 1, down);
    if (own) rows = std::min(rows, ceil_div(kFewTiles, columns * deep));
    rows = ceil_div(down, ceil_div(down, rows));
  }
  /// Lines that are tiles have their pixels one below the other.
  bool is_upright() const { return x.size == 1; }
  /// Tiles of a row, of so many, that are transformed at once.
  i64 run(i64 tiles) const { return m == kWinogradLine && is_upright() ? tiles : 1; }
  i64 bands() const { return ceil_div(down, rows); }
  i64 strips() const { return ceil_div(across, columns); }
  /// Of a volume.
  i64 regions(const VolumeShape& v) const { return ceil_div(v.out_slices, deep) * bands() * strips(); }
  Region region(const VolumeShape& v, i64 i) const {
    const auto depths = ceil_div(v.out_slices, deep);
    return {Part(v.out_slices, depths, i / strips() / bands()), Part(down, bands(), i / strips() % bands()),
            Part(across, strips(), i % strips())};
  }
  /// Floats of the transformed slices of a region.
  i64 input_size(const VolumeShape& v) const {
    const auto read = std::min(v.slices, (deep - 1) * v.stride + (v.planes - 1) * v.dilation + 1);
    return points * (blocks * read * rows * columns + 1) * kBlock;
  }
  static i64 sums_step(const Run& run) { return (2 * run.tiles.size() + 1) * kBlock; }
  i64 sums_size(const Run& run) const { return points * sums_step(run); }
  i64 max_sums_size() const { return points * (2 * kTilesTogether + 1) * kBlock; }
};

/// Transformed slices [first, last) of a region: [point][block][slice][tile], points `step` apart.
struct Transformed {
  float* data;
  i64 first, last, tiles, step;

  Transformed(const VolumeShape& v, const Geometry& g, const Region& r, float* to)
      : data(to), first(v.slices), last(0), tiles(r.tiles()) {
    for (auto z = r.slices.begin; z < r.slices.end; ++z)
      if (const auto planes = v.inside(z); planes.size() > 0) {
        first = std::min(first, v.slice_of(z, planes.begin));
        last = std::max(last, v.slice_of(z, planes.end - 1) + 1);
      }
    first = std::min(first, last);
    // Not a multiple of a page, or lines would fall together.
    step = (g.blocks * slices() * tiles + 1) * kBlock;
  }
  i64 slices() const { return last - first; }
};

/// Of a thread that packs a panel right before it is used: its filters as they were read, what is packed of it, and all
/// sums, or those of a run where it is packed at once. Blocks of channels are packed in so many parts.
struct OnceRoom {
  i64 parts, read, packed, sums;
  OnceRoom(const VolumeShape& v, const Geometry& g);
  i64 size() const { return read + packed + sums; }
};

struct Job {
  const IsaTable& table;
  const VolumeShape& v;
  const ConvolutionShape& s;
  const Geometry& g;
  const Epilogue& e;
  const float* in;
  float* out;
  i64 groups = 1;

  /// Line i of slices × blocks × rows of tiles.
  void transform(const Transformed& to, i64 image, const Region& r, i64 i) const {
    const auto row = i % r.rows.size(), block = i / r.rows.size() % g.blocks,
               slice = to.first + i / r.rows.size() / g.blocks;
    const auto* plane = in + (image * g.blocks + block) * v.in_block() + slice * v.in_slice();
    auto* at = to.data + ((block * to.slices() + slice - to.first) * to.tiles + row * r.columns.size()) * kBlock;
    const bool padded = s.pad_left > 0 || s.out_width > s.width;  // then neighbors are not read alike
    const auto run = padded ? 1 : g.run(r.columns.size());
    for (i64 x = 0; x < r.columns.size(); x += run) {
      if (g.m == kWinogradLine) line(plane, r.rows.begin + row, r.columns.begin + x, run, at + x * kBlock, to.step);
      else tile(plane, r.rows.begin + row, r.columns.begin + x, at + x * kBlock, to.step);
    }
  }
  void transform(const Transformed& to, i64 image, const Region& r, ThreadPool& pool) const {
    parallel_ranges(pool, lines(to, r), static_cast<double>(r.columns.size() * g.points) * 2, [&](i64 begin, i64 end) {
      for (auto line = begin; line < end; ++line) transform(to, image, r, line);
    });
  }
  i64 lines(const Transformed& to, const Region& r) const { return to.slices() * g.blocks * r.rows.size(); }

  /// part(run) for all tiles of a region.
  template <class Each>
  void for_runs(const Region& r, i64 tiles, Each each) const {
    for (auto z = r.slices.begin; z < r.slices.end;) {
      const auto planes = v.inside(z);
      auto end = z + 1;
      while (v.stride == 1 && groups == 1 && end < r.slices.end && v.inside(end).begin == planes.begin &&
             v.inside(end).end == planes.end)
        ++end;
      const auto count = (end - z) * tiles, parts = ceil_div(count, kTilesTogether);
      for (i64 i = 0; i < parts; ++i) each(Run{{z, end}, planes, Part(count, parts, i)});
      z = end;
    }
  }

  /// Tiles of a run by some blocks of channels of a panel, whose filters are those; `adds`: to the sums that are there.
  void multiply(const Transformed& from, const Run& run, Part part, const float* weights, i64 columns, bool adds,
                float* sums) const {
    const auto here = run.tiles.size(), strips = ceil_div(here, table.pixels),
               point_size = v.planes * part.size() * kBlock * columns;
    const auto slice = run.planes.size() > 0 ? v.slice_of(run.slices.begin, run.planes.begin) - from.first : 0;
    std::array<i64, kMaxBlocks> offsets;
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
      tile.steps = kBlock;
      tile.weights = filters + run.planes.begin * part.size() * kBlock * columns;
      tile.out = sums + point * g.sums_step(run);
      tile.out_pixel = kBlock;
      tile.out_block = here * kBlock;
      tile.ahead = &ahead;
      begin(tile, {}, 0, adds ? tile.out : nullptr, tile.out_pixel, tile.out_block);
      table.packed(tile, here, static_cast<int>(columns));
    }
  }

  /// The pixels of a run's tiles, from all sums.
  void store(const Transformed& from, i64 image, const Region& r, const Run& run, i64 panel, i64 columns,
             const float* sums) const {
    const auto here = run.tiles.size(), across = r.columns.size();
    for (i64 t = 0, count = 0; t < here; t += count) {
      const auto tile = run.tiles.begin + t, z = run.slices.begin + tile / from.tiles,
                 y = r.rows.begin + tile % from.tiles / across, x = r.columns.begin + tile % across;
      count = std::min(g.run(across - tile % across), here - t);
      for (i64 c = 0; c < columns; c += kBlock)
        store(image, z, y, x, count, panel * kColumns + c, sums + (t + c / kBlock * here) * kBlock, g.sums_step(run));
    }
  }

  /// Both, by a whole panel.
  void by_panel(const Transformed& from, i64 image, const Region& r, i64 panel, const Panels& all, const Run& run,
                float* sums) const {
    const auto* filters = all.panel(panel) + run.slices.begin % groups * panels_size(all.k, all.n);
    multiply(from, run, {0, g.blocks}, filters, all.columns(panel), false, sums);
    store(from, image, r, run, panel, all.columns(panel), sums);
  }

 private:
  /// Tiles (ty, tx) and as many beside it of a slice's block, which are lines.
  void line(const float* plane, i64 ty, i64 tx, i64 count, float* to, i64 step) const {
    const auto y = g.y.first(ty) - s.pad_top, x = g.x.first(tx) - s.pad_left;
    std::array<const float*, 6> taps;
    for (i64 i = 0; i < 6; ++i) {
      const auto from_y = g.is_upright() ? y + i * g.y.apart : y, from_x = g.is_upright() ? x : x + i * g.x.apart;
      const bool inside = from_y >= 0 && from_y < s.height && from_x >= 0 && from_x < s.width;
      taps[i] = inside ? plane + (from_y * s.width + from_x) * kBlock : nullptr;
    }
    table.line_input(taps.data(), count, to, step);
  }

  /// Tile (ty, tx) of a slice's block.
  void tile(const float* plane, i64 ty, i64 tx, float* to, i64 step) const {
    const auto y = g.y.first(ty) - s.pad_top, x = g.x.first(tx) - s.pad_left, row = s.width * kBlock;
    const auto down = g.y.window(), across = g.x.window(), y_apart = g.y.apart, x_apart = g.x.apart;
    if (y >= 0 && x >= 0 && y + (down - 1) * y_apart < s.height && x + (across - 1) * x_apart < s.width)
      return table.winograd_input(g.m, plane + y * row + x * kBlock, y_apart * row, x_apart * kBlock, to, step);
    alignas(64) std::array<float, 36 * kBlock> window;
    for (i64 i = 0; i < down; ++i)
      for (i64 j = 0; j < across; ++j) {
        auto* pixel = window.data() + (i * across + j) * kBlock;
        const auto from_y = y + i * y_apart, from_x = x + j * x_apart;
        if (from_y >= 0 && from_y < s.height && from_x >= 0 && from_x < s.width)
          std::copy_n(plane + from_y * row + from_x * kBlock, kBlock, pixel);
        else std::fill_n(pixel, kBlock, 0.0f);
      }
    table.winograd_input(g.m, window.data(), across * kBlock, kBlock, to, step);
  }

  void store(i64 image, i64 z, i64 ty, i64 tx, i64 count, i64 channel, const float* from, i64 step) const {
    const auto y = g.y.first(ty), x = g.x.first(tx);
    auto row = s.out_width * kBlock * g.y.apart, column = kBlock * g.x.apart;
    auto rows = g.y.pixels(y, s.out_height), columns = g.x.pixels(x, s.out_width);
    const bool lines = g.m == kWinogradLine;
    if (lines && !g.is_upright()) {
      row = column;
      rows = columns;
    }
    if (lines) {
      column = kBlock;
      columns = count;
    }
    const auto place = (image * blocks_of(s.outputs) + channel / kBlock) * v.out_block() + z * v.out_slice() +
                       (y * s.out_width + x) * kBlock;
    const auto* residual = e.residual ? e.residual + place : nullptr;
    Tile tile{};
    tile.out = out + place;
    tile.out_pixel = column;
    channel += z % groups * s.outputs;
    begin(tile, e, channel, residual, column, 0);
    const WinogradPixels to{.bias = tile.bias,
                            .residual = tile.residual,
                            .low = tile.low,
                            .high = tile.high,
                            .out = tile.out,
                            .row = row,
                            .column = column,
                            .rows = static_cast<int>(rows),
                            .columns = static_cast<int>(columns)};
    lines ? table.line_output(from, step, to) : table.winograd_output(g.m, from, step, to);
    if (e.is_simple()) return;
    for (i64 r = 0; r < rows; ++r, tile.out += row)
      finish(table, tile, static_cast<int>(columns), kBlock, e, channel, residual ? residual + r * row : nullptr,
             column, 0);
  }
};

/// Some blocks of channels of `valid` filters, which lie together at `from`, transformed, into sixteen columns of a
/// packed panel of `columns`: [point][plane][block][16][columns]. They are transposed first, so that a vector has
/// sixteen outputs.
void pack_columns(const VolumeShape& v, const Geometry& g, const float* from, i64 valid, Part blocks, i64 columns,
                  float* to) {
  alignas(64) std::array<float, kMaxPlanes * 9 * kBlock * kBlock> rows;
  const auto taps = v.slice.taps(), each = v.kernel_planes * taps, channels = v.slice.channels;
  for (auto b = blocks.begin; b < blocks.end; ++b) {
    const auto here = std::min(kBlock, channels - b * kBlock);
    if (valid < kBlock || here < kBlock) rows.fill(0.0f);
    isa().transpose(from + b * kBlock * each, channels * each, rows.data(), kBlock, valid, here * each);
    for (i64 p = 0; p < v.planes; ++p)
      for (i64 c = 0; c < kBlock; ++c) {
        const auto* taken = rows.data() + (c * each + (v.first_plane + p) * taps) * kBlock;
        auto* const point = to + ((p * blocks.size() + b - blocks.begin) * kBlock + c) * columns;
        const auto step = v.planes * blocks.size() * kBlock * columns;
        if (g.m == kWinogradLine) isa().line_filter(taken, kBlock, point, step);
        else isa().winograd_filter(g.m, taken, kBlock, point, step);
      }
  }
}

i64 panel_steps(const VolumeShape& v, const Geometry& g) { return g.points * v.planes * g.blocks * kBlock; }

OnceRoom::OnceRoom(const VolumeShape& v, const Geometry& g) {
  const auto block = panels_size(g.points * v.planes * kBlock, kColumns);
  parts = ceil_div(g.blocks, std::max<i64>(kOncePacked / block, 1));
  read = kColumns * v.filter_floats();
  packed = block * ceil_div(g.blocks, parts);
  const auto tiles = v.out_slices * g.down * g.across, runs = v.out_slices + ceil_div(tiles, kTilesTogether);
  sums = parts == 1 ? g.max_sums_size() : g.points * (2 * tiles + runs) * kBlock;
}

/// Whether enough of the tiles' pixels are in the plane: where it is small, or taps lie far apart, many are not.
bool pays(const ConvolutionShape& s, int m) {
  const auto y = axis_y(s, m), x = axis_x(s, m);
  return static_cast<double>(y.tiles * y.size * x.tiles * x.size) * kLeastUsed <= static_cast<double>(s.out_plane());
}

}  // namespace

bool winograd_fits(const ConvolutionShape& s) {
  return s.kernel_height == 3 && s.kernel_width == 3 && s.stride_y == 1 && s.stride_x == 1 &&
         (s.groups == 1 || (s.group_channels() % kBlock == 0 && s.group_outputs() % kBlock == 0));
}

bool winograd_line_fits(const ConvolutionShape& s) {
  return s.taps() == 3 && std::max(s.kernel_height, s.kernel_width) == 3 && s.stride_y == 1 && s.stride_x == 1 &&
         s.groups == 1;
}

int winograd_tile(const VolumeShape& v) {
  const auto& s = v.slice;
  const bool line = winograd_line_fits(s);
  if ((!line && !winograd_fits(s)) || s.channels < kBlock || s.outputs < kBlock || v.kernel_planes > kMaxPlanes ||
      blocks_of(s.channels) > kMaxBlocks)
    return 0;
  const bool few = s.channels * v.planes < 2 * kBlock, narrow = s.outputs < 2 * kBlock;
  if ((few && narrow) || ((few || narrow) && (line || s.groups > 1))) return 0;
  if (line) return pays(s, kWinogradLine) ? kWinogradLine : 0;
  const auto side = std::min(s.out_height, s.out_width);
  const bool small = s.group_channels() * v.planes < 2 * kBlock;
  if (s.groups > 1 && side < (small ? kLeastSideOfSmallGroups : kLeastSideOfGroups)) return 0;
  // Sums of fewer channels are so small that F(4×4) would round too much beside them.
  if (side >= 24 && !small && pays(s, 4)) return 4;
  return side >= 6 && pays(s, 2) ? 2 : 0;
}

i64 winograd_filters_size(const VolumeShape& shape, int m) {
  const auto v = seen(shape);
  return shape.slice.groups * panels_size(panel_steps(v, Geometry(v, m)), v.slice.outputs);
}

void winograd_pack(const VolumeShape& shape, int m, const Weights& weights, float* to, ThreadPool& pool) {
  const auto v = seen(shape);
  const Geometry g(v, m);
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

i64 winograd_scratch_size(const VolumeShape& shape, int m, int threads) {
  const auto v = seen(shape);
  const Geometry g(v, m);
  return (g.own ? threads : 1) * g.input_size(v) + threads * g.max_sums_size();
}

void winograd_convolution(const VolumeShape& shape, int m, const float* filters, const float* in, float* out,
                          const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (shape.out_volume() == 0) return;
  const auto v = seen(shape);
  const Geometry g(v, m);
  const Job job{isa(), v, v.slice, g, epilogue, in, out, shape.slice.groups};
  const Panels all{filters, panel_steps(v, g), v.slice.outputs};
  const auto regions = g.regions(v), input = g.input_size(v);
  if (g.own) {
    Slots slots(scratch, input + g.max_sums_size(), slots_for(pool));
    parallel(pool, v.slice.batch * regions, [&](i64 chunk) {
      const auto image = chunk / regions;
      const auto r = g.region(v, chunk % regions);
      const Slots::Lease room(slots);
      const Transformed transformed(v, g, r, room.data());
      for (i64 i = 0; i < job.lines(transformed, r); ++i) job.transform(transformed, image, r, i);
      for (i64 panel = 0; panel < g.panels; ++panel)
        job.for_runs(r, transformed.tiles, [&](const Run& run) {
          job.by_panel(transformed, image, r, panel, all, run, room.data() + input);
        });
    });
  } else {
    Slots slots(scratch + input, g.max_sums_size(), slots_for(pool));
    for (i64 i = 0; i < v.slice.batch * regions; ++i) {
      const auto image = i / regions;
      const auto r = g.region(v, i % regions);
      const Transformed transformed(v, g, r, scratch);
      job.transform(transformed, image, r, pool);
      i64 runs = 0;
      job.for_runs(r, transformed.tiles, [&](const Run&) { ++runs; });
      parallel(pool, g.panels * runs, [&](i64 chunk) {
        const auto panel = chunk % g.panels;
        const Slots::Lease room(slots);
        i64 at = 0;
        job.for_runs(r, transformed.tiles, [&](const Run& run) {
          if (at++ == chunk / g.panels) job.by_panel(transformed, image, r, panel, all, run, room.data());
        });
      });
    }
  }
  clear_padding(shape, epilogue.activation, out);
}

bool winograd_packs_by_panels(const VolumeShape& shape, int m) {
  const auto v = seen(shape);
  const Geometry g(v, m, true);
  return v.slice.batch == 1 && shape.slice.groups == 1 && g.regions(v) == 1 && g.panels >= kOncePanels;
}

i64 winograd_once_scratch_size(const VolumeShape& shape, int m, int threads) {
  const auto v = seen(shape);
  const Geometry g(v, m, true);
  return g.input_size(v) + threads * OnceRoom(v, g).size();
}

void winograd_convolution_once(const VolumeShape& shape, int m, const Weights& weights, const float* in, float* out,
                               const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (shape.out_volume() == 0) return;
  const auto v = seen(shape);
  const Geometry g(v, m, true);
  const Job job{isa(), v, v.slice, g, epilogue, in, out};
  const OnceRoom size(v, g);
  const auto r = g.region(v, 0);
  const Transformed transformed(v, g, r, scratch);
  const auto outputs = v.slice.outputs, each = v.filter_floats();
  job.transform(transformed, 0, r, pool);
  Slots rooms(scratch + g.input_size(v), size.size(), slots_for(pool));
  parallel(pool, g.panels, [&](i64 panel) {
    const Slots::Lease room(rooms);
    auto *const packed = room.data() + size.read, *const sums = packed + size.packed;
    const auto first = panel * kColumns, valid = std::min(kColumns, outputs - first),
               columns = valid > kBlock ? kColumns : kBlock;
    const auto* const read = weights.get(first * each, valid * each, room.data());
    for (i64 i = 0; i < size.parts; ++i) {
      const Part blocks(g.blocks, size.parts, i);
      for (i64 half = 0; half < columns; half += kBlock)
        pack_columns(v, g, read + half * each, std::min(kBlock, valid - half), blocks, columns, packed + half);
      auto* at = sums;
      job.for_runs(r, transformed.tiles, [&](const Run& run) {
        job.multiply(transformed, run, blocks, packed, columns, i > 0, at);
        if (i + 1 == size.parts) job.store(transformed, 0, r, run, panel, columns, at);
        if (size.parts > 1) at += g.sums_size(run);
      });
    }
  });
  clear_padding(shape, epilogue.activation, out);
}

}  // namespace ovir::fast
