#include "fast/kernels/convolution/narrow_geometry.hpp"

#include <algorithm>

#include "fast/isa/narrow.hpp"
#include "fast/kernels/convolution/narrow_groups.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kBandWords = 64 << 10;    // of padded input rows that a chunk copies for itself
constexpr i64 kPlaneWords = 256 << 10;  // of a padded input that is copied once for all chunks
constexpr i64 kBands = 8;               // of rows, at least

ConvolutionShape in_one_row(ConvolutionShape s) {
  if (!s.is_pointwise()) return s;
  s.width = s.out_width = s.plane();
  s.height = s.out_height = 1;
  s.slices = {};
  return s;
}

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
  const auto& z = s.slices;
  padded_slices = reach(z.count, z.pad, z.out, z.stride, z.planes, z.dilation);
  padded_rows = reach(s.slice_height(), s.pad_top, s.out_slice_height(), s.stride_y, s.plane_height(), s.dilation_y);
  padded_width = unrolled ? s.out_width : narrow_width(s);
  padded = parts > 1 || padded_slices != z.count || padded_rows != s.slice_height() || padded_width != s.width;
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

NarrowBands NarrowGeometry::bands() const {
  const auto& z = s.slices;
  const auto row = blocks * parts * padded_width * kBlock, height = s.out_slice_height();
  const auto most = std::max<i64>(ceil_div(s.out_height, kBands), 1);  // rows of all slices of a band
  const auto of = [&](i64 slices) {
    const auto read = (slices - 1) * z.stride + (z.planes - 1) * z.dilation + 1;
    const auto tall = (s.plane_height() - 1) * s.dilation_y + 1, fits = kBandWords / (row * read) - tall;
    const auto rows = std::clamp<i64>(fits / s.stride_y + 1, 1, std::clamp<i64>(most / slices, 1, height));
    return NarrowBands{slices, rows, read, (rows - 1) * s.stride_y + tall};
  };
  /// What is copied for an output row.
  const auto copied = [](const NarrowBands& b) {
    return static_cast<double>(b.read_slices * b.read_rows) / static_cast<double>(b.slices * b.rows);
  };
  auto best = of(1);
  for (i64 slices = 2; slices <= std::min(z.out, most); ++slices) {
    const auto bands = of(slices);
    if (bands.read_slices * bands.read_rows * row > kBandWords) break;
    if (copied(bands) < copied(best)) best = bands;
  }
  return best;
}

i64 NarrowGeometry::count_of(const NarrowBands& bands) const {
  return ceil_div(s.slices.out, bands.slices) * ceil_div(s.out_slice_height(), bands.rows);
}

NarrowBand NarrowGeometry::band(const NarrowBands& bands, i64 i) const {
  const auto& z = s.slices;
  const auto height = s.out_slice_height(), across = ceil_div(height, bands.rows);
  const Part slices(z.out, ceil_div(z.out, bands.slices), i / across), rows(height, across, i % across);
  return {.slices = slices,
          .rows = rows,
          .first_slice = slices.begin * z.stride,
          .read_slices = (slices.size() - 1) * z.stride + (z.planes - 1) * z.dilation + 1,
          .first_row = rows.begin * s.stride_y,
          .read_rows = (rows.size() - 1) * s.stride_y + (s.plane_height() - 1) * s.dilation_y + 1};
}

i64 NarrowGeometry::band_columns() const {
  const auto fits =
      (kBandWords / (blocks * parts * padded_height() * kBlock) - (s.kernel_width - 1) * s.dilation_x - 1);
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
    return threads * blocks * parts * padded_height() * band.count * band.width * kBlock;
  }
  const auto band = bands();
  return threads * blocks * parts * band.read_slices * band.read_rows * padded_width * kBlock;
}

}  // namespace ovir::fast
