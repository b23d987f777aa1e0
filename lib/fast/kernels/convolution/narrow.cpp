#include "fast/kernels/convolution/narrow.hpp"

#include <algorithm>

#include "fast/kernels/convolution/narrow_groups.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kBandWords = 64 << 10;    // of padded input rows that a chunk copies for itself
constexpr i64 kPlaneWords = 256 << 10;  // of a padded input that is copied once for all chunks
constexpr i64 kBands = 8;               // of rows, at least
constexpr int kAlone = 4;               // threads that each copy a whole plane
constexpr i64 kPixelBytes = 384 << 10;  // of a pointwise convolution's input, while all panels go by
constexpr i64 kDepthwiseWords = 8 << 10;
constexpr i64 kWaitingWeights = 8 << 10;  // of a panel: while they are multiplied other sums can be finished

ConvolutionShape in_one_row(ConvolutionShape s) {
  if (!s.is_pointwise()) return s;
  s.width = s.out_width = s.plane();
  s.height = s.out_height = 1;
  return s;
}

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

/// About `wanted` parts of n, of equal size and, with `others` times as many, even in number if there are such: so that
/// two threads have as much to do. A single part stays one.
i64 equal_parts(i64 n, i64 wanted, i64 others) {
  for (auto parts = wanted; wanted > 1 && parts <= std::min(n, 2 * wanted); ++parts)
    if (n % parts == 0 && parts * others % 2 == 0) return parts;
  return wanted;
}

struct Source {
  const Word* data;
  i64 row, block;
  i64 part = 0;
  ColumnPhases phases;
};

}  // namespace

GroupedChannels::GroupedChannels(const ConvolutionShape& s, i64 channels_of_word)
    : each(s.group_channels()), outputs(s.group_outputs()), lanes(channels_of_word) {
  const auto most = (outputs - 1 + kBlock - 1) / outputs + 1;
  channels = each * (kBlock % outputs == 0 ? kBlock / outputs : outputs % kBlock == 0 ? 1 : most);
  const auto steps = aligned() / lanes;
  words = std::clamp<i64>(steps & -steps, 1, kBlock);
  runs = ceil_div(channels, words * lanes);
}

bool NarrowGeometry::takes_groups(const ConvolutionShape& s, i64 lanes) {
  // Of 16 outputs. Those of 4 channels slide faster in f32 (depthwise.hpp), but where only the half of the channels is
  // multiplied (pair_excess.hpp).
  const i64 most_groups = lanes == 4 && narrow_isa().adds_pairs ? 4 : 2;
  if (s.groups == 1 || s.is_by_channel()) return false;
  const GroupedChannels grouped(s, lanes);
  return grouped.aligned() % lanes == 0 && grouped.channels <= most_groups * grouped.each &&
         grouped.runs * s.taps() <= kMaxTaps;
}

NarrowGeometry::NarrowGeometry(const ConvolutionShape& shape, i64 channels_of_word, i64 in_parts)
    : s(in_one_row(shape)), lanes(channels_of_word), parts(in_parts) {
  // Of a large plane some rows at a time become parts, but where there are more filters than pixels.
  if (parts > 1 && s.plane() * s.channels * parts / lanes > kPlaneWords && s.outputs < s.plane()) s = shape;
  const auto words = parts > 1 ? round_up(s.channels, lanes * kBlock) / lanes : ceil_div(s.channels, lanes);
  if (s.groups > 1) grouped.emplace(s, lanes);
  image = words <= 2 && (s.taps() > 1 || s.is_sampled()) && s.dilation_x == 1 && !grouped;
  blocks = image ? 1 : ceil_div(words, kBlock);
  unrolled = image && lanes == 2 && s.channels == 1 && s.taps() > 1 &&
             s.kernel_width <= std::min(8 * s.stride_x, kMaxUnrolled);
  if (unrolled) {
    pixel = step = steps = ceil_div(s.kernel_width, lanes);
  } else {
    pixel = image ? words : kBlock;
    step = s.stride_x * pixel;
    steps = image ? s.kernel_width * words : grouped ? grouped->words : kBlock;
  }
  last_steps = image || grouped ? steps : words - (blocks - 1) * kBlock;
  taps = image ? s.kernel_height : s.taps();
  padded_height = reach(s.height, s.pad_top, s.out_height, s.stride_y, s.kernel_height, s.dilation_y);
  padded_width = unrolled ? s.out_width : narrow_width(s);
  padded = parts > 1 || padded_height != s.height || padded_width != s.width;
  phases.width = padded_width;
  if (!padded || image || s.stride_x == 1) return;
  phases.stride = s.stride_x;
  phases.count = std::min(s.stride_x, (s.kernel_width - 1) * s.dilation_x + 1);
  phases.width = ceil_div(padded_width, phases.stride);
  padded_width = phases.count * phases.width;
  step = pixel;
}

i64 narrow_width(const ConvolutionShape& s) {
  return reach(s.width, s.pad_left, s.out_width, s.stride_x, s.kernel_width, s.dilation_x);
}

i64 NarrowGeometry::place(i64 output, i64 channel, i64 row, i64 column) const {
  const auto start = output / kColumns * panel_size();
  if (unrolled) return (start + (row * steps + column / lanes) * kColumns + output % kColumns) * lanes + column % lanes;
  i64 at = 0;
  if (image) {
    at = row * steps + column * pixel + channel / lanes;
  } else if (grouped) {
    const auto word = (channel - grouped->first(output)) / lanes;
    at = (word / steps * taps + row * s.kernel_width + column) * steps + word % steps;
  } else {
    const auto block = channel / (kBlock * lanes), word = channel / lanes % kBlock;
    const auto tap = row * s.kernel_width + column, now = block + 1 < blocks ? steps : last_steps;
    at = block * steps * taps + tap * now + word;
  }
  return (start + at * kColumns + output % kColumns) * lanes + channel % lanes;
}

void NarrowGeometry::set_taps(i64 output, i64 runs, const Part& there, i64 block_words, const i64* of_run,
                              i64* to) const {
  for (i64 r = 0; r < runs; ++r) {
    const auto word = grouped->first(output) / lanes + r * steps, block = word / kBlock;
    const auto start = block < there.end ? (block - there.begin) * block_words + word % kBlock : 0;
    for (i64 t = 0; t < taps; ++t) to[r * taps + t] = start + of_run[t];
  }
}

bool NarrowGeometry::copies_bands() const {
  const bool many = s.out_height == 1 ? s.out_width >= kBands * kMostPixels : s.out_height >= kBands;
  return padded && !image && filters_size() <= 2 * padded_size() && (padded_size() > kPlaneWords || many);
}

OncePanels NarrowGeometry::once(i64 read_words) const {
  return {.count = panels(),
          .words = panel_size(),
          .read_words = read_words,
          .by_panels = s.batch == 1 && panels() >= kOncePanels && !copies_bands()};
}

i64 NarrowGeometry::band_rows() const {
  const auto fits = (kBandWords / (blocks * parts * padded_width * kBlock) - (s.kernel_height - 1) * s.dilation_y - 1);
  return std::clamp<i64>(fits / s.stride_y + 1, 1, std::max<i64>(ceil_div(s.out_height, kBands), 1));
}

i64 NarrowGeometry::band_columns() const {
  const auto fits = (kBandWords / (blocks * parts * padded_height * kBlock) - (s.kernel_width - 1) * s.dilation_x - 1);
  return std::clamp<i64>(fits / s.stride_x + 1, 1, std::max<i64>(ceil_div(s.out_width, kBands), 1));
}

ColumnPhases NarrowGeometry::phases_of(i64 out_columns) const {
  const auto columns = (out_columns - 1) * s.stride_x + (s.kernel_width - 1) * s.dilation_x + 1;
  return {.width = ceil_div(columns, phases.stride), .stride = phases.stride, .count = phases.count};
}

bool NarrowGeometry::copies_alone(int threads) const {
  return padded && !image && !copies_bands() && threads <= kAlone &&
         padded_size() * 256 <= s.out_plane() * filters_size();
}

i64 NarrowGeometry::scratch_size(int threads) const {
  if (narrow_takes_rows(*this)) return std::max(narrow_rows_scratch_size(*this, threads), tiles_scratch_size(threads));
  return tiles_scratch_size(threads);
}

i64 NarrowGeometry::tiles_scratch_size(int threads) const {
  if (image) return images_size();
  if (!padded) return 0;
  if (!copies_bands()) return std::max<i64>(s.batch, std::min(threads, kAlone)) * padded_size();
  if (s.out_height == 1) {
    const auto band = phases_of(band_columns());
    return threads * blocks * parts * padded_height * band.count * band.width * kBlock;
  }
  const auto rows = (band_rows() - 1) * s.stride_y + (s.kernel_height - 1) * s.dilation_y + 1;
  return threads * blocks * parts * rows * padded_width * kBlock;
}

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
  /// The rows of taps of an output row that are not all padding of zeros, by which the sum is the same.
  const auto rows_that_count = [&](i64 y) {
    if (!leaves_out) return Part(0, s.kernel_height);
    const auto first = y * s.stride_y - s.pad_top;
    const auto at = [&](i64 row) { return std::clamp<i64>(ceil_div(row - first, s.dilation_y), 0, s.kernel_height); };
    return Part(at(0), at(s.height));
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
      for (i64 row = 0; row < s.kernel_height; ++row)
        taps[row * across + column] = row * s.dilation_y * from.row + place;
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
        for (now = 1; now < together && y + now < y1 && rows_that_count(y + now) == rows;) ++now;
        const auto before = rows.begin * each_row, after = (s.kernel_height - rows.end) * each_row;
        each_tiles({x0, x1}, at_once, [&](i64 x, i64 pixels) {
          const NarrowSum sum{.in = from.data + (y - y0) * s.stride_y * from.row + (x - x0) * g.step,
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
                        i64 first, i64 rows, Word* to) {
    const auto* from = in + image * in_size;
    if (three)
      split_padded(shape, phases, reinterpret_cast<const float*>(from), in_blocks, begin, end, first, rows, to);
    else copy_padded(shape, phases, from, pad_pixel, begin, end, first, rows, to);
  };
  if (g.copies_bands() && s.out_height == 1) {
    const auto bands = ceil_div(s.out_width, g.band_columns());
    const auto widest = g.phases_of(g.band_columns());
    Slots slots(reinterpret_cast<float*>(scratch),
                g.blocks * g.parts * g.padded_height * widest.count * widest.width * kBlock, slots_for(pool));
    return parallel(pool, s.batch * bands, [&](i64 chunk) {
      const auto image = chunk / bands;
      const Part band(s.out_width, bands, chunk % bands);
      const Slots::Lease room(slots);
      auto* columns = reinterpret_cast<Word*>(room.data());
      const auto phases = g.phases_of(band.size());
      auto shape = s;
      shape.pad_left -= band.begin * s.stride_x;
      copy(shape, phases, image, 0, g.blocks, 0, g.padded_height, columns);
      const auto row = phases.count * phases.width * kBlock, plane = g.padded_height * row;
      compute({columns, row, g.parts * plane, three ? plane : 0, phases}, image, 0, panels, 0, 1, band.begin, band.end);
    });
  }
  if (g.copies_bands()) {
    const auto rows = g.band_rows(), bands = ceil_div(s.out_height, rows);
    const auto max_rows = (rows - 1) * s.stride_y + (s.kernel_height - 1) * s.dilation_y + 1;
    Slots slots(reinterpret_cast<float*>(scratch), g.blocks * g.parts * max_rows * g.padded_width * kBlock,
                slots_for(pool));
    return parallel(pool, s.batch * bands, [&](i64 chunk) {
      const auto image = chunk / bands;
      const Part band(s.out_height, bands, chunk % bands);
      const Slots::Lease room(slots);
      auto* rows_read = reinterpret_cast<Word*>(room.data());
      const auto read = (band.size() - 1) * s.stride_y + (s.kernel_height - 1) * s.dilation_y + 1;
      copy(s, g.phases, image, 0, g.blocks, band.begin * s.stride_y, read, rows_read);
      const auto row = g.padded_width * kBlock;
      compute({rows_read, row, g.parts * read * row, three ? read * row : 0, g.phases}, image, 0, panels, band.begin,
              band.end, 0, s.out_width);
    });
  }
  const bool alone = !filters.make && s.out_height > 1 && g.copies_alone(slots_for(pool));
  if (g.padded && !g.image && !alone)
    parallel_ranges(pool, s.batch * g.blocks, static_cast<double>(g.padded_size() / g.blocks) / 8,
                    [&](i64 begin, i64 end) {
                      for (auto i = begin; i < end; ++i)
                        copy(s, g.phases, i / g.blocks, i % g.blocks, i % g.blocks + 1, 0, g.padded_height,
                             scratch + i * g.padded_size() / g.blocks);
                    });
  const bool copied = g.padded || g.image;
  const auto row = (copied ? g.padded_width : s.width) * g.pixel;
  const auto plane = (copied ? g.padded_height : s.height) * row, block = g.parts * plane, apart = three ? plane : 0;
  const auto* data = copied && !g.image ? scratch : in;
  if (filters.make) {
    Slots rooms(reinterpret_cast<float*>(filters.rooms), filters.room_words, slots_for(pool));
    return parallel(pool, panels, [&](i64 panel) {
      const Slots::Lease room(rooms);
      auto* weights = reinterpret_cast<Word*>(room.data());
      filters.make(panel, weights);
      for (i64 image = 0; image < s.batch; ++image)
        compute_panels({data + image * g.blocks * block, row, block, apart, g.phases}, image, weights, panel, panel + 1,
                       0, s.out_height, 0, s.out_width);
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
      compute({data + image * g.blocks * block + part.begin * g.step, row, block, apart, g.phases}, image, mine.begin,
              mine.end, 0, 1, part.begin, part.end);
    });
  }
  // Shared out by panels, each of whose weights are then read by one thread, or, where those are less than the input,
  // by rows, which a thread may have computed itself in the layer before.
  const auto shares = shared_out(ceil_div(wanted, s.batch), s.out_height, panels, g.filters_size() >= g.blocks * block);
  Slots copies(reinterpret_cast<float*>(scratch), g.padded_size(), slots_for(pool));
  std::array<i64, kAlone> copied_image;
  copied_image.fill(-1);
  parallel(pool, s.batch * shares.chunks(), [&](i64 chunk) {
    const auto image = chunk / shares.chunks();
    const Part part(panels, shares.groups, shares.group(chunk)), band(s.out_height, shares.parts, shares.part(chunk));
    const auto compute_from = [&](const Word* plane) {
      compute({plane + band.begin * s.stride_y * row, row, block, apart, g.phases}, image, part.begin, part.end,
              band.begin, band.end, 0, s.out_width);
    };
    if (!alone) return compute_from(data + image * g.blocks * block);
    const Slots::Lease room(copies);
    auto* mine = reinterpret_cast<Word*>(room.data());
    if (auto& has = copied_image[room.slot()]; has != image) {
      copy(s, g.phases, image, 0, g.blocks, 0, g.padded_height, mine);
      has = image;
    }
    compute_from(mine);
  });
}

// --- depthwise

namespace {

struct Bands {
  i64 width, rows, read;
  explicit Bands(const ConvolutionShape& s) : width(narrow_width(s)) {
    const auto tall = (s.kernel_height - 1) * s.dilation_y + 1;
    rows = std::clamp<i64>((kDepthwiseWords / (width * kBlock) - tall) / s.stride_y + 1, 1,
                           std::max<i64>(s.out_height, 1));
    read = (rows - 1) * s.stride_y + tall;
  }
  i64 size() const { return read * width * kBlock; }
};

}  // namespace

i64 narrow_depthwise_scratch_size(const ConvolutionShape& s, int threads) { return threads * Bands(s).size(); }

void narrow_depthwise(const ConvolutionShape& s, i64 lanes, const Word* in, const NarrowPads& pads, Word* scratch,
                      ThreadPool& pool, const NarrowRowsWork& work, double nanoseconds_after) {
  const Bands bands(s);
  const auto count = ceil_div(s.out_height, bands.rows), blocks = ceil_div(s.outputs, lanes * kBlock);
  if (s.batch == 0 || s.out_plane() == 0) return;
  std::array<i64, NarrowGeometry::kMaxTaps> taps;
  for (i64 t = 0; t < s.taps(); ++t)
    taps[t] = ((t / s.kernel_width) * s.dilation_y * bands.width + t % s.kernel_width * s.dilation_x) * kBlock;
  Slots slots(reinterpret_cast<float*>(scratch), bands.size(), slots_for(pool));
  // Of u8 without an instruction for it three times as long.
  const auto times = lanes == 4 && !narrow_isa().has_u8 ? 3 : 1;
  const auto cost = static_cast<double>(bands.rows * s.out_width) *
                    (times * (4 + static_cast<double>(s.taps()) / 2) + nanoseconds_after);
  parallel_ranges(pool, s.batch * blocks * count, cost, [&](i64 begin, i64 end) {
    const Slots::Lease room(slots);
    auto* copy = reinterpret_cast<Word*>(room.data());
    for (auto i = begin; i < end; ++i) {
      const auto plane = i / count;
      const Part band(s.out_height, count, i % count);
      const auto read = (band.size() - 1) * s.stride_y + (s.kernel_height - 1) * s.dilation_y + 1;
      copy_padded(s, {bands.width}, in + plane * s.plane() * kBlock, pads.of(plane % blocks), 0, 1,
                  band.begin * s.stride_y, read, copy);
      work({.in = copy,
            .taps = std::span(taps).first(s.taps()),
            .step = s.stride_x * kBlock,
            .row = s.stride_y * bands.width * kBlock,
            .image = plane / blocks,
            .block = plane % blocks,
            .y = band.begin,
            .rows = band.size()});
    }
  });
}

}  // namespace ovir::fast
