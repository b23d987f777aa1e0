#include "fast/kernels/convolution/narrow.hpp"

#include <algorithm>

#include "fast/kernels/convolution/narrow_groups.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPixelBytes = 384 << 10;  // of a pointwise convolution's input, while all panels go by
constexpr i64 kDepthwiseWords = 8 << 10;
constexpr i64 kWaitingWeights = 8 << 10;  // of a panel: while they are multiplied other sums can be finished

/// Rows of a plane that share tiles because they are short, so that weights are read for all of them: `run` pixels
/// each, `row` words apart.
i64 rows_together(const NarrowTable& table, i64 run, i64 row, i64 pixel) {
  if (table.tiled) return std::max<i64>(2 * rows_of_tile(run, row, pixel), 1);
  return run >= kShortestRow && 2 * run <= table.pixels ? 2 : 1;
}

/// As copy_padded(), of blocks of 32 channels in f32, which become three parts. `in`: blocks of 16, of which
/// `in_blocks` are there.
void split_padded(const ConvolutionShape& s, const ColumnPhases& phases, const float* in, i64 in_blocks, i64 begin,
                  i64 end, i64 first, i64 rows, Word* to) {
  const auto& table = narrow_isa();
  const auto width = phases.count * phases.width, part = rows * width * kBlock;
  const auto fill = [&](i64 columns) {
    for (i64 p = 0; p < 3; ++p) std::fill_n(to + p * part, columns * kBlock, Word{0});
    to += columns * kBlock;
  };
  for (auto b = begin; b < end; ++b, to += 2 * part)
    for (i64 r = 0; r < rows; ++r) {
      const auto y = first + r - s.pad_top;
      if (y < 0 || y >= s.height) {
        fill(width);
        continue;
      }
      for (i64 phase = 0; phase < phases.count; ++phase) {
        const PaddedColumns columns(s, phases, phase);
        const auto* from = in + ((2 * b * s.height + y) * s.width + columns.begin) * kBlock;
        fill(columns.left);
        table.to_bf16x3(from, 2 * b + 1 < in_blocks ? from + s.plane() * kBlock : nullptr, phases.stride * kBlock,
                        columns.inside, to, part);
        to += columns.inside * kBlock;
        fill(columns.right);
      }
    }
}

/// As copy_padded(), of the rows of a band.
void copy_padded_slices(const ConvolutionShape& s, const ColumnPhases& phases, const Word* in, const Word* pad,
                        i64 begin, i64 end, const NarrowBand& band, Word* to) {
  auto slice = s;
  slice.height = s.slice_height();
  const auto size = band.read_rows * phases.count * phases.width;
  for (auto b = begin; b < end; ++b)
    for (i64 i = 0; i < band.read_slices; ++i, to += size * kBlock) {
      const auto z = band.first_slice + i - s.slices.pad;
      if (z < 0 || z >= s.slices.count) fill_pixels(to, size, pad);
      else
        copy_padded(slice, phases, in + (b * s.height + z * slice.height) * s.width * kBlock, pad, 0, 1, band.first_row,
                    band.read_rows, to);
    }
}

/// About `wanted` parts of n, of equal size and, with `others` times as many, even in number if there are such: so that
/// two threads have as much to do. A single part stays one.
i64 equal_parts(i64 n, i64 wanted, i64 others) {
  for (auto parts = wanted; wanted > 1 && parts <= std::min(n, 2 * wanted); ++parts)
    if (n % parts == 0 && parts * others % 2 == 0) return parts;
  return wanted;
}

/// Padded rows: so many words from one to the next, and from those of a slice and of a block to those of the next.
struct Source {
  const Word* data;
  i64 row, slice, block;
  i64 part = 0;
  ColumnPhases phases;
};

}  // namespace

void narrow_convolution(const NarrowGeometry& g, const WordPanels& filters, const Word* in, Word pad, Word* scratch,
                        ThreadPool& pool, const NarrowTileWork& tile, bool rows_of_groups) {
  if (rows_of_groups && filters.packed && narrow_takes_rows(g))
    return narrow_group_rows(g, filters.packed, in, pad, scratch, pool, tile);
  const auto& s = g.s;
  const auto panels = g.panels(), max_pixels = i64{narrow_isa().pixels};
  if (s.batch == 0 || s.out_plane() == 0) return;
  constexpr double kTileTime = 200;  // ns, besides its products
  const auto tile_count = static_cast<double>(panels * ceil_div(s.batch * s.out_plane(), max_pixels * kTilesAtOnce));
  const auto work = static_cast<double>(s.batch * s.out_plane() * g.panel_size()) * static_cast<double>(panels) / 16 +
                    tile_count * kTileTime;
  const auto wanted = static_cast<i64>(std::clamp(work / static_cast<double>(kChunkWork), 1.0, 64.0));
  const auto each_row = g.taps / s.kernel_height;
  const bool leaves_out = pad == 0 && narrow_isa().leaves_out && g.panel_steps().taps == g.taps;
  const auto& z = s.slices;
  const auto out_height = s.out_slice_height(), plane_height = s.plane_height();
  /// The rows of taps of an output row that are not all padding of zeros, by which the sum is the same; of several
  /// planes all rows.
  const auto rows_that_count = [&](i64 y) {
    if (!leaves_out) return Part(0, s.kernel_height);
    const auto inside = [](i64 first, i64 size, i64 dilation, i64 taps) {
      const auto at = [&](i64 place) { return std::clamp<i64>(ceil_div(place - first, dilation), 0, taps); };
      return Part(at(0), at(size));
    };
    const auto planes = inside(y / out_height * z.stride - z.pad, z.count, z.dilation, z.planes);
    if (planes.size() != 1) return Part(planes.begin * plane_height, planes.end * plane_height);
    const auto rows = inside(y % out_height * s.stride_y - s.pad_top, s.slice_height(), s.dilation_y, plane_height);
    return Part(planes.begin * plane_height + rows.begin, planes.begin * plane_height + rows.end);
  };
  /// Where the first row lies that an output row reads, in words.
  const auto row_read = [&](const Source& from, i64 y) {
    return y / out_height * z.stride * from.slice + y % out_height * s.stride_y * from.row;
  };

  /// Rows [y0, y1) by columns [x0, x1) of panels [first, last), which lie at `weights`; row and column 0 of the source
  /// are the first that are read.
  const auto compute_panels = [&](const Source& from, i64 image, const Word* weights, i64 first, i64 last, i64 y0,
                                  i64 y1, i64 x0, i64 x1) {
    const auto order = g.panel_steps();
    std::array<i64, NarrowGeometry::kMaxTaps> taps;
    // Chunks are so many that divisions for each tap would count.
    const auto across = g.image ? 1 : s.kernel_width;
    for (i64 column = 0; column < across; ++column) {
      const auto place = from.phases.place(column * s.dilation_x) * g.pixel;
      for (i64 plane = 0; plane < z.planes; ++plane)
        for (i64 row = 0; row < plane_height; ++row)
          taps[(plane * plane_height + row) * across + column] =
              plane * z.dilation * from.slice + row * s.dilation_y * from.row + place;
    }
    const auto set_taps = [&](i64 output, std::array<i64, NarrowGeometry::kMaxTaps>& to) {
      g.set_taps(output, g.grouped->runs, {0, g.blocks}, from.block, taps.data(), to.data());
    };
    const auto tiles = ceil_div(x1 - x0, max_pixels);
    const bool tiled = narrow_isa().tiled;
    const auto at_once = tiled ? 1 : kTilesAtOnce;
    const auto apart = s.stride_y * from.row;
    const auto together = s.out_height > 1 && !g.grouped ? rows_together(narrow_isa(), x1 - x0, apart, g.step) : 1;
    TileAside aside;
    const bool waits = tiled && g.lanes == 2 && g.panel_size() >= kWaitingWeights;
    std::array<std::array<i64, NarrowGeometry::kMaxTaps>, 2> grouped;  // those of both halves of a panel
    for (auto panel = first; panel < last; ++panel) {
      const i64 *panel_taps = taps.data(), *other_taps = nullptr;
      if (g.grouped) {
        const auto output = panel * kColumns, other = output + kBlock;
        set_taps(output, grouped[0]);
        panel_taps = grouped[0].data();
        if (other < s.outputs && g.grouped->first(output) != g.grouped->first(other)) {
          set_taps(other, grouped[1]);
          other_taps = grouped[1].data();
        }
      }
      Ahead ahead;
      const auto next = panel + 1;  // of the thread's next chunk, if not of this one
      // Tiles leave no time to ask in: what the processor finds out by itself comes sooner.
      if (!tiled && filters.packed && panels > 1 && g.filters_size() > (1 << 16) && next < panels) {
        ahead.next = reinterpret_cast<const char*>(filters.packed + next * g.panel_size());
        ahead.end = ahead.next + g.panel_size() * 4;
        ahead.lines = ceil_div(2 * kBlock, tiles * ceil_div(y1 - y0, together));
      }
      for (i64 y = y0, now = 0; y < y1; y += now) {
        const auto rows = rows_that_count(y);
        const auto* row = from.data + row_read(from, y) - row_read(from, y0);
        const auto most = std::min({together, y1 - y, out_height - y % out_height});
        for (now = 1; now < most && rows_that_count(y + now) == rows;) ++now;
        const auto before = rows.begin * each_row, after = (s.kernel_height - rows.end) * each_row;
        each_tiles({x0, x1}, at_once, [&](i64 x, i64 pixels) {
          const NarrowSum sum{.in = row + (x - x0) * g.step,
                              .pixel = g.step,
                              .block = from.block,
                              .taps = panel_taps + before,
                              .blocks = order.blocks,
                              .tap_count = order.taps - before - after,
                              .steps = order.steps,
                              .last_steps = order.last_steps,
                              .weights = weights + (panel - first) * g.panel_size(),
                              .ahead = &ahead,
                              .before = before,
                              .after = after,
                              .other_taps = other_taps ? other_taps + before : nullptr,
                              .run = now > 1 ? pixels : 0,
                              .row = apart,
                              .part = from.part,
                              .aside = waits ? &aside : nullptr};
          tile(sum, static_cast<int>(pixels * now), panel, image, y * s.out_width + x);
        });
      }
    }
    if (waits) narrow_isa().finish(aside);
  };

  const auto compute = [&](const Source& from, i64 image, i64 first, i64 last, i64 y0, i64 y1, i64 x0, i64 x1) {
    compute_panels(from, image, filters.packed + first * g.panel_size(), first, last, y0, y1, x0, x1);
  };

  alignas(64) Word pad_pixel[kBlock];
  std::fill_n(pad_pixel, kBlock, pad);
  const bool three = g.parts > 1;
  const auto in_blocks = three ? blocks_of(s.channels) : g.blocks, in_size = in_blocks * s.plane() * kBlock;
  const auto copy = [&](const ConvolutionShape& shape, const ColumnPhases& phases, i64 image, i64 begin, i64 end,
                        const NarrowBand& band, Word* to) {
    const auto* from = in + image * in_size;
    if (three)
      split_padded(shape, phases, reinterpret_cast<const float*>(from), in_blocks, begin, end, band.first_row,
                   band.read_rows, to);
    else copy_padded_slices(shape, phases, from, pad_pixel, begin, end, band, to);
  };
  const NarrowBand all_rows{{0, z.out}, {0, out_height}, 0, g.padded_slices, 0, g.padded_rows};
  if (g.copies_bands() && s.out_height == 1) {
    const auto bands = ceil_div(s.out_width, g.band_columns());
    const auto widest = g.phases_of(g.band_columns());
    Slots slots(reinterpret_cast<float*>(scratch),
                g.blocks * g.parts * g.padded_height() * widest.count * widest.width * kBlock, slots_for(pool));
    return parallel(pool, s.batch * bands, [&](i64 chunk) {
      const auto image = chunk / bands;
      const Part band(s.out_width, bands, chunk % bands);
      const Slots::Lease room(slots);
      auto* columns = reinterpret_cast<Word*>(room.data());
      const auto phases = g.phases_of(band.size());
      auto shape = s;
      shape.pad_left -= band.begin * s.stride_x;
      copy(shape, phases, image, 0, g.blocks, all_rows, columns);
      const auto row = phases.count * phases.width * kBlock, plane = g.padded_height() * row;
      compute({columns, row, g.padded_rows * row, g.parts * plane, three ? plane : 0, phases}, image, 0, panels, 0, 1,
              band.begin, band.end);
    });
  }
  if (g.copies_bands()) {
    const auto bands = g.bands();
    const auto count = g.count_of(bands);
    Slots slots(reinterpret_cast<float*>(scratch),
                g.blocks * g.parts * bands.read_slices * bands.read_rows * g.padded_width * kBlock, slots_for(pool));
    return parallel(pool, s.batch * count, [&](i64 chunk) {
      const auto image = chunk / count;
      const auto band = g.band(bands, chunk % count);
      const Slots::Lease room(slots);
      auto* rows_read = reinterpret_cast<Word*>(room.data());
      copy(s, g.phases, image, 0, g.blocks, band, rows_read);
      const auto row = g.padded_width * kBlock, slice = band.read_rows * row, read = band.read_slices * slice;
      Source from{rows_read, row, slice, g.parts * read, three ? read : 0, g.phases};
      for (auto y = band.slices.begin * out_height; y < band.slices.end * out_height; y += out_height) {
        compute(from, image, 0, panels, y + band.rows.begin, y + band.rows.end, 0, s.out_width);
        from.data += z.stride * slice;
      }
    });
  }
  const bool alone = !filters.make && s.out_height > 1 && g.copies_alone(slots_for(pool));
  if (g.padded && !g.image && !alone)
    parallel_ranges(pool, s.batch * g.blocks, static_cast<double>(g.padded_size() / g.blocks) / 8,
                    [&](i64 begin, i64 end) {
                      for (auto i = begin; i < end; ++i)
                        copy(s, g.phases, i / g.blocks, i % g.blocks, i % g.blocks + 1, all_rows,
                             scratch + i * g.padded_size() / g.blocks);
                    });
  const bool copied = g.padded || g.image;
  const auto row = (copied ? g.padded_width : s.width) * g.pixel;
  const auto slice = (copied ? g.padded_rows : s.slice_height()) * row;
  const auto plane = (copied ? g.padded_slices : z.count) * slice, block = g.parts * plane, apart = three ? plane : 0;
  const auto* data = copied && !g.image ? scratch : in;
  if (filters.make) {
    Slots rooms(reinterpret_cast<float*>(filters.rooms), filters.room_words, slots_for(pool));
    return parallel(pool, panels, [&](i64 panel) {
      const Slots::Lease room(rooms);
      auto* weights = reinterpret_cast<Word*>(room.data());
      filters.make(panel, weights);
      for (i64 image = 0; image < s.batch; ++image)
        compute_panels({data + image * g.blocks * block, row, slice, block, apart, g.phases}, image, weights, panel,
                       panel + 1, 0, s.out_height, 0, s.out_width);
    });
  }
  if (s.out_height == 1) {
    // One row, as of a pointwise convolution: parts of it that stay in the cache while the panels go by. Of many
    // filters each is read by one thread.
    const bool whole = g.filters_size() > g.padded_size() && panels > 1;
    const auto fits = std::max(ceil_div(s.out_width * g.blocks * kBlock * 4, kPixelBytes),
                               whole ? 1 : ceil_div(wanted, s.batch * panels));
    const auto tiles = ceil_div(s.out_width, max_pixels);
    const auto parts = equal_parts(tiles, std::clamp<i64>(fits, 1, tiles), 1);
    const auto groups = equal_parts(panels, std::clamp<i64>(ceil_div(wanted, s.batch * parts), 1, panels), parts);
    const RowsByPanels shares{parts, groups, whole};
    return parallel(pool, s.batch * shares.chunks(), [&](i64 chunk) {
      const auto image = chunk / shares.chunks();
      const Part part(s.out_width, parts, shares.part(chunk)), mine(panels, groups, shares.group(chunk));
      compute({data + image * g.blocks * block + part.begin * g.step, row, slice, block, apart, g.phases}, image,
              mine.begin, mine.end, 0, 1, part.begin, part.end);
    });
  }
  // Shared out by panels, each of whose weights are then read by one thread, or, where those are less than the input,
  // by rows, which a thread may have computed itself in the layer before.
  const auto shares = shared_out(ceil_div(wanted, s.batch), s.out_height, panels, g.filters_size() >= g.blocks * block);
  Slots copies(reinterpret_cast<float*>(scratch), g.padded_size(), slots_for(pool));
  std::array<i64, NarrowGeometry::kAlone> copied_image;
  copied_image.fill(-1);
  parallel(pool, s.batch * shares.chunks(), [&](i64 chunk) {
    const auto image = chunk / shares.chunks();
    const Part part(panels, shares.groups, shares.group(chunk)), band(s.out_height, shares.parts, shares.part(chunk));
    const auto compute_from = [&](const Word* plane) {
      Source from{plane, row, slice, block, apart, g.phases};
      from.data += row_read(from, band.begin);
      compute(from, image, part.begin, part.end, band.begin, band.end, 0, s.out_width);
    };
    if (!alone) return compute_from(data + image * g.blocks * block);
    const Slots::Lease room(copies);
    auto* mine = reinterpret_cast<Word*>(room.data());
    if (auto& has = copied_image[room.slot()]; has != image) {
      copy(s, g.phases, image, 0, g.blocks, all_rows, mine);
      has = image;
    }
    compute_from(mine);
  });
}

// --- depthwise

namespace {

struct Bands {
  i64 width, deep, tall, rows;  ///< of a slice
  explicit Bands(const ConvolutionShape& s)
      : width(narrow_width(s)),
        deep((s.slices.planes - 1) * s.slices.dilation + 1),
        tall((s.plane_height() - 1) * s.dilation_y + 1) {
    rows = std::clamp<i64>((kDepthwiseWords / (width * kBlock * deep) - tall) / s.stride_y + 1, 1,
                           std::max<i64>(s.out_slice_height(), 1));
    // Tall kernels would copy all that they read for each row.
    rows = std::clamp<i64>(tall / s.stride_y, rows, std::max<i64>(s.out_slice_height(), rows));
  }
  i64 read(const ConvolutionShape& s, i64 out_rows) const { return (out_rows - 1) * s.stride_y + tall; }
  i64 size(const ConvolutionShape& s) const { return deep * read(s, rows) * width * kBlock; }
};

}  // namespace

i64 narrow_depthwise_scratch_size(const ConvolutionShape& s, int threads) { return threads * Bands(s).size(s); }

void narrow_depthwise(const ConvolutionShape& s, i64 lanes, const Word* in, const NarrowPads& pads, Word* scratch,
                      ThreadPool& pool, const NarrowRowsWork& work, double nanoseconds_after) {
  const Bands bands(s);
  const auto& z = s.slices;
  const auto out_height = s.out_slice_height(), plane_taps = s.plane_height() * s.kernel_width;
  const auto count = ceil_div(out_height, bands.rows), blocks = ceil_div(s.outputs, lanes * kBlock);
  if (s.batch == 0 || s.out_plane() == 0) return;
  Slots slots(reinterpret_cast<float*>(scratch), bands.size(s), slots_for(pool));
  // Of u8 without an instruction for it three times as long.
  const auto times = lanes == 4 && !narrow_isa().has_u8 ? 3 : 1;
  const auto cost = static_cast<double>(bands.rows * s.out_width) *
                    (times * (4 + static_cast<double>(s.taps()) / 2) + nanoseconds_after);
  parallel_ranges(pool, s.batch * blocks * z.out * count, cost, [&](i64 begin, i64 end) {
    const Slots::Lease room(slots);
    auto* copy = reinterpret_cast<Word*>(room.data());
    std::array<i64, NarrowGeometry::kMaxTaps> taps;
    i64 rows_read = 0;  // of a slice, for which the taps are
    for (auto i = begin; i < end; ++i) {
      const auto block = i / (z.out * count), slice = i / count % z.out;
      const Part band(out_height, count, i % count);
      const auto read = bands.read(s, band.size());
      if (read != rows_read) {
        rows_read = read;
        for (i64 t = 0; t < s.taps(); ++t) {
          const auto tap = t % plane_taps;
          const auto row = t / plane_taps * z.dilation * read + tap / s.kernel_width * s.dilation_y;
          taps[t] = (row * bands.width + tap % s.kernel_width * s.dilation_x) * kBlock;
        }
      }
      copy_padded_slices(s, {bands.width}, in + block * s.plane() * kBlock, pads.of(block % blocks), 0, 1,
                         {.slices = {slice, slice + 1},
                          .rows = band,
                          .first_slice = slice * z.stride,
                          .read_slices = bands.deep,
                          .first_row = band.begin * s.stride_y,
                          .read_rows = read},
                         copy);
      work({.in = copy,
            .taps = std::span(taps).first(s.taps()),
            .step = s.stride_x * kBlock,
            .row = s.stride_y * bands.width * kBlock,
            .image = block / blocks,
            .block = block % blocks,
            .y = slice * out_height + band.begin,
            .rows = band.size()});
    }
  });
}

}  // namespace ovir::fast
