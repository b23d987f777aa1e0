#include "fast/kernels/convolution/direct.hpp"

#include <array>
#include <numeric>
#include <vector>

#include "fast/kernels/convolution/gathered.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPlaneFloats = 256 << 10;  // of a padded input that is copied once for all chunks
constexpr i64 kPanelFloats = 20 << 10;   // of a panel's weights, while the tiles go by

/// Taps of an axis that reach outputs of the phases before each, where nothing is padded.
struct TapsBefore {
  std::array<i64, kMaxStride + 1> count{};
  TapsBefore(i64 taps, i64 dilation, i64 stride) {
    for (i64 phase = 0; phase < stride; ++phase) {
      count[phase + 1] = count[phase];
      for (i64 tap = 0; tap < taps; ++tap) count[phase + 1] += reaches(phase, tap, dilation, stride);
    }
  }
};

/// Joined groups with their filters.
struct Groups : JoinedGroups {
  using JoinedGroups::JoinedGroups;
  i64 filters_size(i64 taps) const { return panels_size(blocks() * kBlock * taps, outputs); }
};

/// Rows [first, first + rows) of the padded input, of `blocks` blocks, into `to`.
void copy_padded(const ConvolutionShape& s, const Phase& p, const float* in, i64 block_begin, i64 block_end, i64 first,
                 i64 rows, float* to) {
  for (auto b = block_begin; b < block_end; ++b)
    for (i64 r = 0; r < rows; ++r) {
      float* row = to + (b * rows + r) * p.padded_width * kBlock;
      const auto y = first + r - p.top;
      if (y < 0 || y >= s.height) {
        std::fill_n(row, p.padded_width * kBlock, 0.0f);
        continue;
      }
      std::fill_n(row, p.left * kBlock, 0.0f);
      std::copy_n(in + (b * s.height + y) * s.width * kBlock, s.width * kBlock, row + p.left * kBlock);
      std::fill_n(row + (p.left + s.width) * kBlock, p.right * kBlock, 0.0f);
    }
}

/// Columns [first, first + count) of a padded row, of `blocks` blocks.
void copy_columns(const ConvolutionShape& s, const Phase& p, const float* in, i64 blocks, i64 first, i64 count,
                  float* to) {
  const auto from = std::clamp<i64>(first - p.left, 0, s.width),
             until = std::clamp(first + count - p.left, from, s.width);
  const auto before = std::clamp<i64>(p.left - first, 0, count), inside = until - from;
  for (i64 b = 0; b < blocks; ++b, in += s.width * kBlock) {
    to = std::fill_n(to, before * kBlock, 0.0f);
    to = std::copy_n(in + from * kBlock, inside * kBlock, to);
    to = std::fill_n(to, (count - before - inside) * kBlock, 0.0f);
  }
}

/// Where a chunk reads: `data` is the first padded row that output row `first` reads.
struct Source {
  const float* data;
  i64 row, block;
  i64 first = 0;
};

/// Channels of the last block that are packed; 0: all.
i64 last_steps(const ConvolutionShape& s) { return s.groups == 1 ? s.channels % kBlock : 0; }

struct Job {
  const IsaTable& table;
  const ConvolutionShape& s;
  const Phase& p;
  const Groups& groups;
  const float* filters;
  const Epilogue& epilogue;
  i64 weight_rows;  ///< of a panel, all phases together

  /// Tiles [begin, end) of a phase, panels [first, last) of a group.
  void tiles(const Source& from, float* out, i64 image, i64 group, i64 first, i64 last, i64 begin, i64 end) const {
    const Panels panels{filters + group * groups.filters_size(weight_rows / (groups.blocks() * kBlock)), weight_rows,
                        groups.outputs_of(s, group)};
    for (auto panel = first; panel < std::min(last, panels.count()); ++panel)
      tiles(from, out, image, group, panel, panels.panel(panel), panels.filled(panel), begin, end);
  }

  /// The same of one panel of `outputs` packed filters.
  void tiles(const Source& from, float* out, i64 image, i64 group, i64 panel, const float* weights, i64 outputs,
             i64 begin, i64 end) const {
    const auto columns = columns_of(outputs);
    std::array<i64, kMaxTaps> offsets;
    for (i64 i = 0; i < p.taps; ++i) offsets[i] = (p.dy[i] + p.top) * from.row + (p.dx[i] + p.left) * kBlock;
    const auto across = p.tiles_of_row(), out_plane = s.out_plane() * kBlock;
    const auto first_block = image * blocks_of(s.outputs) + group * blocks_of(groups.outputs);
    const auto column = group * groups.outputs + panel * kColumns, blocks = blocks_of(groups.channels_of(s, group));
    const auto step = std::max<i64>(p.taps * kBlock * columns, 1);  // of the weights of a block
    const auto together = end - begin == 1 ? blocks : std::max<i64>(kPanelFloats / step, 1);
    // Columns of the panel, by the channels of some blocks.
    struct Columns {
      i64 first, count;
      JoinedGroups::Read read;
    };
    // Some pixels of a row, by blocks of channels from `block` on.
    const auto strip = [&](const Columns& c, i64 block, i64 y, i64 x, i64 pixels) {
      const auto place = (first_block + panel * (kColumns / kBlock) + c.first / kBlock) * out_plane +
                         ((y * p.out_stride_y + p.out_y) * s.out_width + x * p.out_stride_x + p.out_x) * kBlock;
      const auto of = column + c.first;
      Tile tile{};
      tile.in = from.data + block * from.block + (y - from.first) * p.stride_y * from.row + x * p.stride_x * kBlock;
      tile.pixel = p.stride_x * kBlock;
      tile.block = from.block;
      tile.taps = offsets.data();
      tile.blocks = std::min(together, c.read.end - block);
      tile.tap_count = p.taps;
      tile.steps = kBlock;
      tile.weights = weights + p.first_tap * groups.blocks() * kBlock * columns + block * step + c.first;
      tile.weights_step = columns;
      tile.filled = std::min(c.count, outputs - c.first);
      tile.out = out + place;
      tile.out_pixel = p.out_stride_x * kBlock;
      tile.out_block = out_plane;
      const bool first = block == c.read.begin, last = block + together >= c.read.end;
      if (last) tile.last_steps = last_steps(s);
      const auto e = part_of(epilogue, first, last);
      const auto* residual = e.residual ? e.residual + place : nullptr;
      if (first) ovir::fast::begin(tile, e, of, residual, tile.out_pixel, out_plane);
      else begin_later(tile, e, of, tile.out, tile.out_pixel, out_plane);
      table.packed(tile, pixels, static_cast<int>(c.count));
      finish(table, tile, pixels, static_cast<int>(c.count), e, of, residual, tile.out_pixel, out_plane);
    };
    const auto compute = [&](const Columns& c) {
      for (auto block = c.read.begin; block < c.read.end; block += together)
        for (auto i = begin; i < end;) {
          const auto y = i / across, first = i % across, last = std::min(across, first + end - i);
          const auto pixels = Part(p.out_columns, across, last - 1).end;
          for (auto x = Part(p.out_columns, across, first).begin; x < pixels;) {
            const auto now = std::min(pixels_together(epilogue, pixels - x), pixels - x);
            strip(c, block, y, x, now);
            x += now;
          }
          i += last - first;
        }
    };
    if (groups.joined == 1) return compute({0, columns, {0, blocks}});
    for (i64 c = 0; c < columns; c += kBlock) compute({c, kBlock, groups.blocks_read(s, group, panel * kColumns + c)});
  }
};

i64 padded_size(const ConvolutionShape& s, const Phase& p, i64 blocks) {
  return blocks * std::max(s.height + p.top + p.bottom, p.rows_read(p.out_rows)) * p.padded_width * kBlock;
}

bool copies_bands(const ConvolutionShape& s, const Phase& p, i64 blocks) {
  return p.is_padded() && (by_rows(p.out_rows * p.out_columns) || padded_size(s, p, blocks) > kPlaneFloats);
}

/// Whether all taps read a single row.
bool is_row(const ConvolutionShape& s, const Phase& p) {
  return s.height == 1 && p.out_rows == 1 && p.top == 0 && p.rows_read(1) == 1;
}

i64 scratch_size(const ConvolutionShape& s, const Phase& p, i64 blocks, int threads) {
  if (!p.is_padded()) return 0;
  if (!copies_bands(s, p, blocks)) return s.batch * blocks_of(s.channels) * padded_size(s, p, 1);
  if (is_row(s, p)) return threads * blocks * ColumnBands(p, blocks).most_read() * kBlock;
  return threads * blocks * p.rows_read(Bands(p, blocks).most_rows()) * p.padded_width * kBlock;
}

/// All padded inputs, where they are not copied in bands; gives where to read them.
Source padded_source(const ConvolutionShape& s, const Phase& p, i64 blocks, const float* in, float* scratch,
                     ThreadPool& pool) {
  if (!p.is_padded()) return {in, s.width * kBlock, s.plane() * kBlock};
  const auto one = padded_size(s, p, 1), rows = one / (p.padded_width * kBlock);
  parallel_ranges(pool, blocks, static_cast<double>(one) / 8,
                  [&](i64 begin, i64 end) { copy_padded(s, p, in, begin, end, 0, rows, scratch); });
  return {scratch, p.padded_width * kBlock, one};
}

/// All tiles, which read `source`, by panels, each of whose weights are then read by one thread, or by rows.
void share_out(const Job& job, const Source& source, float* out, ThreadPool& pool) {
  const auto& s = job.s;
  const auto& p = job.p;
  const auto& groups = job.groups;
  const auto blocks = groups.blocks(), images = s.batch * groups.count, panels = ceil_div(groups.outputs, kColumns);
  const auto work = static_cast<double>(p.out_rows * p.out_columns * blocks * kBlock * p.taps) *
                    static_cast<double>(groups.outputs * images) / 40;
  const auto wanted = static_cast<i64>(std::clamp(work / static_cast<double>(kChunkWork), 1.0, 64.0));
  const auto shares = shared_out(ceil_div(wanted, images), p.tiles(), panels, !by_rows(p.out_rows * p.out_columns));
  parallel(pool, images * shares.chunks(), [&](i64 chunk) {
    const auto image = chunk / shares.chunks();
    const Part part(panels, shares.groups, shares.group(chunk)), mine(p.tiles(), shares.parts, shares.part(chunk));
    auto from = source;
    from.data += (image / groups.count * blocks_of(s.channels) + image % groups.count * blocks) * from.block;
    job.tiles(from, out, image / groups.count, image % groups.count, part.begin, part.end, mine.begin, mine.end);
  });
}

void run(const ConvolutionShape& s, const Phase& p, const float* filters, i64 weight_rows, const float* in, float* out,
         const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (p.out_rows <= 0 || p.out_columns <= 0) return;
  const Groups groups(s);
  const Job job{isa(), s, p, groups, filters, epilogue, weight_rows};
  const auto blocks = groups.blocks(), images = s.batch * groups.count, panels = ceil_div(groups.outputs, kColumns);
  if (copies_bands(s, p, blocks) && is_row(s, p)) {
    const ColumnBands bands(p, blocks);
    Slots slots(scratch, blocks * bands.most_read() * kBlock, slots_for(pool));
    return parallel(pool, images * bands.count, [&](i64 chunk) {
      const auto image = chunk / bands.count;
      const auto band = bands.band(chunk % bands.count);
      auto phase = p;
      phase.out_x = p.out_x + band.begin * p.out_stride_x;
      phase.out_columns = band.size();
      const Slots::Lease room(slots);
      const auto read = bands.read(band.size());
      const auto there = blocks_of(groups.channels_of(s, image % groups.count));
      const auto first_block = image / groups.count * blocks_of(s.channels) + image % groups.count * blocks;
      copy_columns(s, p, in + first_block * s.width * kBlock, there, band.begin * p.stride_x, read, room.data());
      const Job some{job.table, s, phase, groups, filters, epilogue, weight_rows};
      some.tiles({room.data(), read * kBlock, read * kBlock}, out, image / groups.count, image % groups.count, 0,
                 panels, 0, phase.tiles());
    });
  }
  if (copies_bands(s, p, blocks)) {
    const Bands bands(p, blocks);
    Slots slots(scratch, blocks * p.rows_read(bands.most_rows()) * p.padded_width * kBlock, slots_for(pool));
    return parallel(pool, images * bands.count, [&](i64 chunk) {
      const auto image = chunk / bands.count;
      const auto band = bands.band(chunk % bands.count);
      const Slots::Lease room(slots);
      const auto read = p.rows_read(band.size());
      const auto there = blocks_of(groups.channels_of(s, image % groups.count));
      const auto first_block = image / groups.count * blocks_of(s.channels) + image % groups.count * blocks;
      copy_padded(s, p, in + first_block * s.plane() * kBlock, 0, there, band.begin * p.stride_y, read, room.data());
      const Source from{room.data(), p.padded_width * kBlock, read * p.padded_width * kBlock, band.begin};
      job.tiles(from, out, image / groups.count, image % groups.count, 0, panels, band.begin * p.tiles_of_row(),
                band.end * p.tiles_of_row());
    });
  }
  share_out(job, padded_source(s, p, s.batch * blocks_of(s.channels), in, scratch, pool), out, pool);
}

/// Packs the filters of each joined group in panels: [phase][block][tap of the phase][channel][columns]. The
/// weights of an output begin at first(output), those of the channels of its group lie `channel_step` apart.
template <class First>
void pack(const ConvolutionShape& s, const std::vector<std::vector<i64>>& phases, First first, i64 channel_step,
          float* to, ThreadPool& pool) {
  const Groups groups(s);
  const auto taps = s.taps(), channels = s.group_channels(), blocks = groups.blocks(), rows = blocks * kBlock * taps;
  const auto panels = ceil_div(groups.outputs, kColumns);
  const auto last = last_steps(s);
  parallel_ranges(pool, groups.count * panels, static_cast<double>(rows * kColumns), [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto group = i / panels, panel = i % panels;
      const Panels packed{to + group * groups.filters_size(taps), rows, groups.outputs_of(s, group)};
      if (panel >= packed.count()) continue;
      const auto columns = packed.columns(panel), output0 = group * groups.outputs + panel * kColumns;
      const auto valid = std::min(columns, packed.n - panel * kColumns);
      float* const begin_of_panel = to + (packed.panel(panel) - to);
      std::fill_n(begin_of_panel, rows * columns, 0.0f);
      std::array<const float*, kColumns> weights;
      std::array<i64, kColumns> channel0;
      for (i64 column = 0; column < valid; ++column) {
        weights[column] = first(output0 + column);
        channel0[column] = s.first_channel(panel * kColumns + column);
      }
      // Channel by channel, for what is written then lies together, as do the transposed filters that are read.
      for (i64 c = 0; c < channels; ++c)
        for (i64 column = 0; column < valid; ++column) {
          const auto channel = channel0[column] + c, block = channel / kBlock;
          const auto steps = last > 0 && block + 1 == blocks ? last : kBlock;
          const auto* weight = weights[column] + c * channel_step;
          auto* of_phase = begin_of_panel + column;
          for (const auto& phase : phases) {
            const auto count = std::ssize(phase);
            for (i64 t = 0; t < count; ++t)
              of_phase[(block * count * kBlock + t * steps + channel % kBlock) * columns] = weight[phase[t]];
            of_phase += count * blocks * kBlock * columns;
          }
        }
    }
  });
}

/// Block `block` of `valid` filters of a panel of `columns`, which lie together at `from`, into the panel's packed
/// block, by transposition. Of the last block only the channels that there are.
void pack_block(const ConvolutionShape& s, const float* from, i64 valid, i64 block, i64 columns, float* to) {
  constexpr i64 kRows = 64;  // transposed at a time
  const auto& table = isa();
  const auto taps = s.taps(), each = s.group_channels() * taps,
             channels = std::min(kBlock, s.group_channels() - block * kBlock);
  from += block * kBlock * taps;
  if (taps == 1) return table.transpose(from, each, to, columns, valid, channels);
  alignas(64) std::array<float, kRows * kColumns> rows;
  for (i64 first = 0; first < channels * taps; first += kRows) {
    const auto count = std::min(kRows, channels * taps - first);
    table.transpose(from + first, each, rows.data(), columns, valid, count);
    for (i64 r = 0; r < count; ++r) {
      const auto channel = (first + r) / taps, tap = (first + r) % taps;
      std::copy_n(rows.data() + r * columns, valid, to + (tap * channels + channel) * columns);
    }
  }
}

void pack_dense(const ConvolutionShape& s, const Weights& filters, float* to, ThreadPool& pool) {
  const auto taps = s.taps(), blocks = blocks_of(s.group_channels());
  const Panels panels{to, blocks * kBlock * taps, s.outputs};
  const auto cost = static_cast<double>(kColumns * kBlock * taps) / 3;
  const auto each = s.group_channels() * taps;
  pack_blocks(filters, s.outputs * each, kColumns * each, blocks, cost, pool,
              [&](i64 panel, i64 block, const float* from) {
                const auto columns = panels.columns(panel), valid = std::min(columns, s.outputs - panel * kColumns);
                auto* out = to + (panels.panel(panel) - to) + block * kBlock * taps * columns;
                if (valid < columns)
                  std::fill_n(out, std::min(kBlock, s.group_channels() - block * kBlock) * taps * columns, 0.0f);
                pack_block(s, from, valid, block, columns, out);
              });
}

}  // namespace

i64 direct_filters_size(const ConvolutionShape& s) {
  const Groups groups(s);
  return groups.count * groups.filters_size(s.taps());
}

void direct_pack(const ConvolutionShape& s, const Weights& filters, float* to, ThreadPool& pool) {
  if (s.packs_as_one_group()) return pack_dense(s, filters, to, pool);
  std::vector<i64> taps(s.taps());
  std::iota(taps.begin(), taps.end(), i64{0});
  const auto size = s.group_channels() * s.taps();
  pack(
      s, {taps}, [&](i64 output) { return filters.data + output * size; }, s.taps(), to, pool);
}

i64 direct_scratch_size(const ConvolutionShape& s, int threads) {
  const auto p = forward(s);
  if (gathers(s, p)) return s.batch * blocks_of(s.channels) * Gathered(s, p).block;
  return scratch_size(s, p, Groups(s).blocks(), threads);
}

void direct_convolution(const ConvolutionShape& s, const float* filters, const float* in, float* out,
                        const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  const auto p = forward(s);
  const Groups groups(s);
  const auto weight_rows = groups.blocks() * kBlock * s.taps();
  if (gathers(s, p)) {
    const Gathered gathered(s, p);
    const auto one = gathered.phase(s, p);
    gathered.copy(s, p, in, scratch, pool);
    const Source source{scratch, 0, gathered.block};
    share_out({isa(), s, one, groups, filters, epilogue, weight_rows}, source, out, pool);
  } else {
    run(s, p, filters, weight_rows, in, out, epilogue, scratch, pool);
  }
  clear_padding(s, epilogue.activation, out);
}

void transposed_pack(const ConvolutionShape& s, const float* filters, float* to, ThreadPool& pool) {
  std::vector<std::vector<i64>> phases;
  for (i64 y = 0; y < s.stride_y; ++y)
    for (i64 x = 0; x < s.stride_x; ++x) {
      auto& phase = phases.emplace_back();
      for (i64 i = 0; i < s.kernel_height; ++i)
        for (i64 j = 0; j < s.kernel_width; ++j)
          if (reaches(y, i, s.dilation_y, s.stride_y) && reaches(x, j, s.dilation_x, s.stride_x))
            phase.push_back(i * s.kernel_width + j);
    }
  const auto outputs = s.group_outputs(), taps = s.taps(), size = s.group_channels() * outputs * taps;
  pack(
      s, phases, [&](i64 output) { return filters + output / outputs * size + output % outputs * taps; },
      outputs * taps, to, pool);
}

i64 transposed_scratch_size(const ConvolutionShape& s, int threads) {
  const auto around = all_phases(s);
  if (!copies_bands(s, around, Groups(s).blocks())) return scratch_size(s, around, Groups(s).blocks(), threads);
  i64 max = 0;
  for (i64 y = 0; y < s.stride_y; ++y)
    for (i64 x = 0; x < s.stride_x; ++x)
      max = std::max(max, scratch_size(s, backward(s, y, x), Groups(s).blocks(), threads));
  return max;
}

void transposed_convolution(const ConvolutionShape& s, const float* filters, const float* in, float* out,
                            const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (s.out_plane() == 0) return;
  const auto phases = s.stride_y * s.stride_x;
  const Groups groups(s);
  const auto blocks = groups.blocks(), images = s.batch * groups.count, panels = ceil_div(groups.outputs, kColumns);
  const auto around = all_phases(s);
  const auto weight_rows = blocks * kBlock * s.taps();
  const TapsBefore above(s.kernel_height, s.dilation_y, s.stride_y), before(s.kernel_width, s.dilation_x, s.stride_x);
  const auto phase_of = [&](i64 i) {
    const auto y = i / s.stride_x, x = i % s.stride_x;
    auto p = backward(s, y, x);
    const auto row = (y + s.pad_top) % s.stride_y, column = (x + s.pad_left) % s.stride_x;
    p.first_tap = above.count[row] * s.kernel_width + (above.count[row + 1] - above.count[row]) * before.count[column];
    return p;
  };
  if (copies_bands(s, around, blocks)) {
    for (i64 i = 0; i < phases; ++i) run(s, phase_of(i), filters, weight_rows, in, out, epilogue, scratch, pool);
  } else {
    const auto source = padded_source(s, around, s.batch * blocks_of(s.channels), in, scratch, pool);
    const auto work = s.multiplications() / static_cast<double>(s.stride_y * s.stride_x * 40);
    const auto wanted = static_cast<i64>(std::clamp(work / static_cast<double>(kChunkWork), 1.0, 64.0));
    const auto shares = shared_out(ceil_div(wanted, images * phases), around.out_rows, panels,
                                   !by_rows(around.out_rows * around.out_columns));
    parallel(pool, images * phases * shares.chunks(), [&](i64 chunk) {
      const auto image = chunk / shares.chunks() / phases;
      auto p = phase_of(chunk / shares.chunks() % phases);
      if (p.out_rows <= 0 || p.out_columns <= 0) return;
      p.pad_as(around);
      const Part group(panels, shares.groups, shares.group(chunk));
      const Part band(p.out_rows, shares.parts, shares.part(chunk));
      const Job job{isa(), s, p, groups, filters, epilogue, weight_rows};
      auto from = source;
      from.data += (image / groups.count * blocks_of(s.channels) + image % groups.count * blocks) * from.block;
      job.tiles(from, out, image / groups.count, image % groups.count, group.begin, group.end,
                band.begin * p.tiles_of_row(), band.end * p.tiles_of_row());
    });
  }
  clear_padding(s, epilogue.activation, out);
}

}  // namespace ovir::fast
