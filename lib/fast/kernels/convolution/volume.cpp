#include "fast/kernels/convolution/volume.hpp"

#include <array>

#include "fast/kernels/convolution/reached.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kMaxOffsets = 4096;
constexpr i64 kBandFloats = 64 << 10;        // of padded slices that a chunk copies for itself: a quarter of the cache
constexpr i64 kWholeFloats = 256 << 10;      // of a padded input that is always copied once for all chunks
constexpr i64 kPixelFloats = 96 << 10;       // of input, while all panels go by
constexpr i64 kOnceFloats = 1 << 20;         // of input, while panels are packed and go by
constexpr i64 kOncePointFloats = 256 << 10;  // the same, of one tap

/// What surrounds a slice: rows and columns that are read beyond it.
struct Padding {
  i64 top, left, height, width;  ///< the last two: of the padded slice

  explicit Padding(const ConvolutionShape& s)
      : top(s.pad_top),
        left(s.pad_left),
        height(std::max(s.pad_top + s.height, (s.out_height - 1) * s.stride_y + reach(s))),
        width(std::max(s.pad_left + s.width, (s.out_width - 1) * s.stride_x + (s.kernel_width - 1) * s.dilation_x + 1)),
        none(height == s.height && width == s.width) {}
  /// Rows that one output row spans.
  static i64 reach(const ConvolutionShape& s) { return (s.kernel_height - 1) * s.dilation_y + 1; }
  i64 plane() const { return height * width; }

  bool none;
};

/// Where pixels are read: floats between blocks of channels, slices, those that neighboring planes meet, and rows.
struct Source {
  const float* data;
  i64 block, slice, plane, row;
};

/// Rows [first, first + rows) of a padded slice, of all blocks, `block` floats apart.
void copy_padded(const ConvolutionShape& s, const Padding& p, const float* slice, i64 in_block, i64 blocks, i64 first,
                 i64 rows, float* to, i64 block) {
  for (i64 b = 0; b < blocks; ++b, slice += in_block, to += block) {
    auto* row = to;
    for (i64 r = 0; r < rows; ++r, row += p.width * kBlock) {
      const auto y = first + r - p.top;
      if (y < 0 || y >= s.height) {
        std::fill_n(row, p.width * kBlock, 0.0f);
        continue;
      }
      std::fill_n(row, p.left * kBlock, 0.0f);
      std::copy_n(slice + y * s.width * kBlock, s.width * kBlock, row + p.left * kBlock);
      std::fill(row + (p.left + s.width) * kBlock, row + p.width * kBlock, 0.0f);
    }
  }
}

struct Job {
  const IsaTable& table;
  const VolumeShape& v;
  const ConvolutionShape& s;
  const Epilogue& epilogue;
  float* out;
  i64 blocks, across;  ///< of channels; strips of an output row

  Job(const VolumeShape& shape, float* to, const Epilogue& e)
      : table(isa()),
        v(shape),
        s(shape.slice),
        epilogue(e),
        out(to),
        blocks(blocks_of(s.channels)),
        across(ceil_div(s.out_width, table.pixels)) {}

  i64 strips() const { return s.out_height * across; }  ///< of a slice

  /// Of all taps, from the plane that is the first inside.
  std::array<i64, kMaxOffsets> offsets(const Source& from) const {
    std::array<i64, kMaxOffsets> result;
    i64 n = 0;
    for (i64 plane = 0; plane < v.planes; ++plane)
      for (i64 i = 0; i < s.kernel_height; ++i)
        for (i64 j = 0; j < s.kernel_width; ++j)
          result[n++] = plane * from.plane + i * s.dilation_y * from.row + j * s.dilation_x * kBlock;
    return result;
  }

  /// Some pixels of output row (z, y), by the columns of a panel. `at`: where the first of them reads at the first
  /// plane that is inside.
  void strip(const Source& from, const float* at, const i64* taps, Part planes, i64 image, i64 z, i64 y, Part part,
             i64 panel, const float* weights, i64 columns, Ahead* ahead) const {
    const auto column = panel * kColumns;
    const auto place = (image * blocks_of(s.outputs) + column / kBlock) * v.out_block() + z * v.out_slice() +
                       (y * s.out_width + part.begin) * kBlock;
    Tile tile{};
    tile.in = at;
    tile.pixel = s.stride_x * kBlock;
    tile.block = from.block;
    tile.taps = taps;
    tile.blocks = planes.size() > 0 ? blocks : 0;
    tile.tap_count = planes.size() * s.taps();
    tile.steps = kBlock;
    tile.last_steps = s.channels % kBlock;
    tile.weights = weights;
    if (planes.size() < v.planes) skip_planes(tile, planes.begin, columns);
    tile.filled = std::min(columns, s.outputs - column);
    tile.out = out + place;
    tile.out_pixel = kBlock;
    tile.out_block = v.out_block();
    tile.ahead = ahead;
    const auto* residual = epilogue.residual ? epilogue.residual + place : nullptr;
    begin(tile, epilogue, column, residual, kBlock, v.out_block());
    table.packed(tile, part.size(), static_cast<int>(columns));
    finish(table, tile, part.size(), static_cast<int>(columns), epilogue, column, residual, kBlock, v.out_block());
  }

  /// Leaves out the weights of planes that are not inside: the first `before`, and those behind the tile's.
  void skip_planes(Tile& tile, i64 before, i64 columns) const {
    const auto of_taps = s.taps() * columns, first = before * of_taps, all = v.planes * of_taps,
               inside = tile.tap_count * columns, last = tile.last_steps > 0 ? tile.last_steps : kBlock;
    tile.weights += first * (blocks > 1 ? kBlock : last);
    tile.weights_skip = (all - inside) * kBlock;
    tile.last_skip = tile.weights_skip - first * (kBlock - last);
  }

  /// Some strips of all slices of an image, whose padded slices are there.
  void strips(const Source& from, const i64* taps, i64 image, Part which, i64 panel, const float* weights, i64 columns,
              Ahead* ahead) const {
    for (i64 z = 0; z < v.out_slices; ++z) {
      const auto planes = v.inside(z);
      const auto* slice =
          from.data + image * blocks * from.block + (planes.size() > 0 ? v.slice_of(z, planes.begin) : 0) * from.slice;
      for (auto i = which.begin; i < which.end; ++i) {
        const Part part(s.out_width, across, i % across);
        strip(from, slice + i / across * s.stride_y * from.row + part.begin * s.stride_x * kBlock, taps, planes, image,
              z, i / across, part, panel, weights, columns, ahead);
      }
    }
  }
};

/// Rows of a band: as many as their padded input may take.
i64 band_rows(const VolumeShape& v, const Padding& p) {
  const auto row = v.planes * blocks_of(v.slice.channels) * p.width * kBlock;
  const auto fits = (kBandFloats / row - Padding::reach(v.slice)) / v.slice.stride_y + 1;
  return std::clamp<i64>(fits, 1, v.slice.out_height);
}

i64 rows_read(const ConvolutionShape& s, i64 rows) { return (rows - 1) * s.stride_y + Padding::reach(s); }

i64 band_floats(const VolumeShape& v, const Padding& p) {
  return v.planes * blocks_of(v.slice.channels) * rows_read(v.slice, band_rows(v, p)) * p.width * kBlock;
}

i64 whole_floats(const VolumeShape& v, const Padding& p) {
  return p.none ? 0 : v.slice.batch * blocks_of(v.slice.channels) * v.slices * p.plane() * kBlock;
}

/// Whether all of the padded input is copied, not band by band: where that is little, or filters, of which each band
/// reads all, are more.
bool copies_whole(const VolumeShape& v, const Padding& p) {
  return whole_floats(v, p) <= std::max(kWholeFloats, v.steps() * v.slice.outputs);
}

/// All input as it is read: padded, where it is.
Source whole_source(const VolumeShape& v, const Padding& p, const float* in, float* scratch, ThreadPool& pool) {
  const auto& s = v.slice;
  if (p.none) return {in, v.in_block(), v.in_slice(), v.dilation * v.in_slice(), s.width * kBlock};
  const auto each = p.plane() * kBlock;
  parallel_ranges(pool, s.batch * blocks_of(s.channels) * v.slices, static_cast<double>(each) / 8,
                  [&](i64 begin, i64 end) {
                    for (auto i = begin; i < end; ++i)
                      copy_padded(s, p, in + i * s.plane() * kBlock, 0, 1, 0, p.height, scratch + i * each, 0);
                  });
  const auto block = v.of_images ? each : v.slices * each, slice = v.of_images ? blocks_of(s.channels) * each : each;
  return {scratch, block, slice, v.dilation * slice, p.width * kBlock};
}

void by_bands(const Job& job, const Padding& p, const Panels& panels, const float* in, float* scratch,
              ThreadPool& pool) {
  const auto& v = job.v;
  const auto& s = v.slice;
  const auto rows = band_rows(v, p), bands = ceil_div(s.out_height, rows);
  Slots slots(scratch, band_floats(v, p), slots_for(pool));
  parallel(pool, s.batch * v.out_slices * bands, [&](i64 chunk) {
    const auto image = chunk / bands / v.out_slices, z = chunk / bands % v.out_slices;
    const Part band(s.out_height, bands, chunk % bands), planes = v.inside(z);
    const Slots::Lease room(slots);
    const auto read = rows_read(s, band.size()), slice = read * p.width * kBlock;
    const Source from{room.data(), planes.size() * slice, slice, slice, p.width * kBlock};
    for (auto plane = planes.begin; plane < planes.end; ++plane)
      copy_padded(s, p, in + image * job.blocks * v.in_block() + v.slice_of(z, plane) * v.in_slice(), v.in_block(),
                  job.blocks, band.begin * s.stride_y, read, room.data() + (plane - planes.begin) * slice, from.block);
    const auto taps = job.offsets(from);
    for (i64 panel = 0; panel < panels.count(); ++panel)
      for (auto y = band.begin; y < band.end; ++y)
        for (i64 i = 0; i < job.across; ++i) {
          const Part part(s.out_width, job.across, i);
          const auto* at = room.data() + (y - band.begin) * s.stride_y * from.row + part.begin * s.stride_x * kBlock;
          job.strip(from, at, taps.data(), planes, image, z, y, part, panel, panels.panel(panel), panels.columns(panel),
                    nullptr);
        }
  });
}

/// `valid` filters, which lie together at `from`, into sixteen columns of a packed panel of `columns`. Channels beyond
/// the last one are left out.
void pack_columns(const VolumeShape& v, const float* from, i64 valid, i64 columns, float* to) {
  constexpr i64 kRows = 64;  // transposed at a time
  const auto& table = isa();
  const auto taps = v.slice.taps(), channels = v.slice.channels, each = v.filter_floats();
  if (valid < kBlock)
    for (i64 i = 0; i < v.steps(); ++i) std::fill_n(to + i * columns, kBlock, 0.0f);
  if (v.kernel_planes * taps == 1) return table.transpose(from, each, to, columns, valid, channels);
  alignas(64) std::array<float, kRows * kBlock> rows;
  i64 channel = 0, plane = 0, tap = 0;
  for (i64 first = 0; first < each; first += kRows) {
    const auto count = std::min(kRows, each - first);
    table.transpose(from + first, each, rows.data(), kBlock, valid, count);
    for (i64 r = 0; r < count; ++r) {
      const auto p = plane - v.first_plane, block = channel / kBlock;
      if (p >= 0 && p < v.planes) {
        const auto size = std::min(kBlock, channels - block * kBlock);
        const auto step = block * kBlock * v.planes * taps + (p * taps + tap) * size + channel % kBlock;
        std::copy_n(rows.data() + r * kBlock, valid, to + step * columns);
      }
      if (++tap < taps) continue;
      tap = 0;
      if (++plane < v.kernel_planes) continue;
      plane = 0;
      ++channel;
    }
  }
}

/// Of a thread that packs a panel right before it is used: sixteen filters as they were read, and the panel.
struct OnceRoom {
  i64 read, packed;
  explicit OnceRoom(const VolumeShape& v)
      : read(round_up(kBlock * v.filter_floats(), kBlock)), packed(panels_size(v.steps(), kColumns)) {}
  i64 size() const { return read + packed; }
};

}  // namespace

VolumeShape::VolumeShape(const ConvolutionShape& s) : slice(s.slice()), of_images(!s.is_volume()) {
  if (of_images) {
    slices = out_slices = slice.batch;
    slice.batch = 1;
    return;
  }
  const auto& z = s.slices;
  slice.batch = s.batch;
  slices = z.count;
  out_slices = z.out;
  planes = kernel_planes = z.planes;
  stride = z.stride;
  dilation = z.dilation;
  pad = z.pad;
}

Part VolumeShape::inside(i64 out_slice) const {
  const auto first = slice_of(out_slice, 0);
  const auto begin = std::min(first >= 0 ? 0 : ceil_div(-first, dilation), planes),
             end = std::min(first >= slices ? 0 : (slices - 1 - first) / dilation + 1, planes);
  return begin < end ? Part(begin, end) : Part(0, 0);
}

VolumeShape VolumeShape::trimmed() const {
  const auto part = reached(planes, stride, dilation, pad, slices, out_slices);
  if (part.size() == 0) return *this;
  auto v = *this;
  v.first_plane += part.begin;
  v.planes = part.size();
  v.pad -= part.begin * dilation;
  return v;
}

VolumeShape VolumeShape::folded() const {
  auto v = *this;
  auto& s = v.slice;
  if (!s.is_pointwise()) return v;
  s.width = s.out_width = s.plane();
  s.height = s.out_height = 1;
  if (of_images || planes > 1 || stride > 1 || pad != 0 || slices != out_slices) return v;
  s.width = s.out_width = s.width * slices;
  v.slices = v.out_slices = 1;
  return v;
}

VolumeShape VolumeShape::rows() const {
  if (of_images || !slice.is_pointwise() || planes < kernel_planes) return *this;
  VolumeShape v;
  v.slice = slice;
  auto& s = v.slice;
  s.width = s.out_width = slice.plane();
  s.height = slices;
  s.out_height = out_slices;
  s.kernel_height = kernel_planes;
  s.stride_y = stride;
  s.dilation_y = dilation;
  s.pad_top = pad;
  return v;
}

void clear_padding(const VolumeShape& v, const Unary& activation, float* out) {
  auto s = v.slice;
  (v.of_images ? s.batch : s.out_height) *= v.out_slices;
  clear_padding(s, activation, out);
}

bool volume_fits(const VolumeShape& v) {
  const auto taps = v.slice.taps();
  return v.slice.groups == 1 && taps <= kMaxTaps && v.planes * taps <= kMaxOffsets;
}

i64 volume_filters_size(const VolumeShape& v) { return panels_size(v.steps(), v.slice.outputs); }

void volume_pack(const VolumeShape& v, const Weights& weights, float* to, ThreadPool& pool) {
  const auto outputs = v.slice.outputs, each = v.filter_floats();
  const Panels panels{to, v.steps(), outputs};
  Slots rooms(weights.room, weights.file ? round_up(kBlock * each, kBlock) : 0, slots_for(pool));
  parallel_ranges(pool, ceil_div(outputs, kBlock), static_cast<double>(kBlock * each) / 3, [&](i64 begin, i64 end) {
    const Slots::Lease room(rooms);
    for (auto i = begin; i < end; ++i) {
      const auto first = i * kBlock, valid = std::min(kBlock, outputs - first), panel = first / kColumns;
      auto* const packed = to + (panels.panel(panel) - to);
      pack_columns(v, weights.get(first * each, valid * each, room.data()), valid, panels.columns(panel),
                   packed + first % kColumns);
    }
  });
}

i64 volume_scratch_size(const VolumeShape& v, int threads) {
  const Padding p(v.slice);
  return copies_whole(v, p) ? whole_floats(v, p) : threads * band_floats(v, p);
}

void direct_volume(const VolumeShape& v, const float* filters, const float* in, float* out, const Epilogue& epilogue,
                   float* scratch, ThreadPool& pool) {
  if (v.out_volume() == 0) return;
  const auto& s = v.slice;
  const Job job(v, out, epilogue);
  const Panels all{filters, v.steps(), s.outputs};
  const Padding p(s);
  if (!copies_whole(v, p)) {
    by_bands(job, p, all, in, scratch, pool);
  } else {
    const auto from = whole_source(v, p, in, scratch, pool);
    const auto strips = job.strips();
    const auto work = v.multiplications() / 40;
    const auto wanted = static_cast<i64>(std::clamp(work / static_cast<double>(kChunkWork), 1.0, 64.0));
    const auto fits = std::max(ceil_div(job.blocks * v.slices * s.plane() * kBlock, kPixelFloats),
                               ceil_div(wanted, s.batch * all.count()));
    const auto parts = std::clamp<i64>(fits, 1, strips);
    const auto groups = std::clamp<i64>(ceil_div(wanted, s.batch * parts), 1, all.count());
    const bool prefetch = all.k * s.outputs > (i64{1} << 17);
    const auto taps = job.offsets(from);
    parallel(pool, s.batch * parts * groups, [&](i64 chunk) {
      const auto image = chunk / (parts * groups);
      const Part part(strips, parts, chunk / groups % parts), mine(all.count(), groups, chunk % groups);
      for (auto panel = mine.begin; panel < mine.end; ++panel) {
        Ahead ahead;
        if (const auto next = panel + 1; prefetch && next < all.count()) {
          ahead.next = reinterpret_cast<const char*>(all.panel(next));
          ahead.end = reinterpret_cast<const char*>(all.panel(next) + all.k * all.columns(next));
          ahead.lines = ceil_div(2 * kBlock, part.size() * v.out_slices);
        }
        job.strips(from, taps.data(), image, part, panel, all.panel(panel), all.columns(panel), &ahead);
      }
    });
  }
  clear_padding(v, epilogue.activation, out);
}

bool volume_packs_by_panels(const VolumeShape& v) {
  const auto& s = v.slice;
  const auto input = blocks_of(s.channels) * v.slices * Padding(s).plane() * kBlock;
  return s.groups == 1 && s.batch == 1 && s.outputs >= kOncePanels * kColumns &&
         input <= (v.planes * s.taps() == 1 ? kOncePointFloats : kOnceFloats);
}

i64 volume_once_scratch_size(const VolumeShape& v, int threads) {
  return whole_floats(v, Padding(v.slice)) + threads * OnceRoom(v).size();
}

void direct_volume_once(const VolumeShape& v, const Weights& weights, const float* in, float* out,
                        const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (v.out_volume() == 0) return;
  const auto outputs = v.slice.outputs, each = v.filter_floats();
  const Job job(v, out, epilogue);
  const Padding p(v.slice);
  const auto from = whole_source(v, p, in, scratch, pool);
  const auto taps = job.offsets(from);
  const OnceRoom size(v);
  Slots rooms(scratch + whole_floats(v, p), size.size(), slots_for(pool));
  parallel(pool, ceil_div(outputs, kColumns), [&](i64 panel) {
    const Slots::Lease room(rooms);
    auto* const packed = room.data() + size.read;
    const auto columns = Panels{packed, v.steps(), outputs}.columns(panel);
    for (i64 half = 0; half < columns; half += kBlock) {
      const auto first = panel * kColumns + half, valid = std::clamp<i64>(outputs - first, 0, kBlock);
      pack_columns(v, weights.get(first * each, valid * each, room.data()), valid, columns, packed + half);
    }
    job.strips(from, taps.data(), 0, Part(0, job.strips()), panel, packed, columns, nullptr);
  });
  clear_padding(v, epilogue.activation, out);
}

}  // namespace ovir::fast
