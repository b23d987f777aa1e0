#include "fast/kernels/convolution/planar.hpp"

#include <array>

#include "fast/kernels/convolution/padded_row.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kBandFloats = 32 << 10;  // of padded input that a chunk copies

/// Taps in a row of the kernel that lie side by side are steps of one sum.
i64 steps_of(const ConvolutionShape& s) { return s.dilation_x == 1 ? s.kernel_width : 1; }

/// Columns of the padded planes that `columns` of the output read.
i64 columns_read(const ConvolutionShape& s, i64 columns) {
  return (columns - 1) * s.stride_x + (s.kernel_width - 1) * s.dilation_x + 1;
}

i64 rows_read(const ConvolutionShape& s, i64 rows) {
  return (rows - 1) * s.stride_y + (s.kernel_height - 1) * s.dilation_y + 1;
}

/// How an output plane is cut: `bands` of at most `rows` rows and, where those are few, `strips` of at most `columns`
/// columns.
struct Cut {
  i64 rows, bands, strips, columns;

  explicit Cut(const ConvolutionShape& s) {
    constexpr i64 kChunks = 8, kColumnsWorthAStrip = 64;
    const auto row = s.channels * columns_read(s, s.out_width);
    const auto fits = (kBandFloats / row - rows_read(s, 1)) / s.stride_y + 1;
    rows = std::clamp<i64>(fits, 1, std::max<i64>(1, ceil_div(s.out_height, kChunks)));
    bands = ceil_div(s.out_height, rows);
    const auto max_strips = std::max<i64>(s.out_width / kColumnsWorthAStrip, 1);
    strips = std::clamp<i64>(std::max(kChunks / bands, row * rows_read(s, 1) / kBandFloats), 1, max_strips);
    columns = ceil_div(s.out_width, strips);
  }
  i64 floats(const ConvolutionShape& s) const { return s.channels * rows_read(s, rows) * columns_read(s, columns); }
};

/// Rows [first, first + rows) and columns [left, left + width) of the padded planes, whose row 0 is pad_top above the
/// plane and whose column 0 is pad_left beside it. plane(c) is where that of channel c lies; null: it is zeros.
template <class Plane>
void copy_padded(const ConvolutionShape& s, const Plane& plane, i64 first, i64 rows, i64 left, i64 width, float* to) {
  for (i64 c = 0; c < s.channels; ++c)
    for (i64 r = 0; r < rows; ++r, to += width) {
      const auto y = first + r - s.pad_top;
      const float* in = plane(c);
      if (y < 0 || y >= s.height || !in) std::fill_n(to, width, 0.0F);
      else copy_padded_row(in + y * s.width, s.width, left - s.pad_left, 1, width, to);
    }
}

/// planar_rows() of the planes that plane(channel) gives.
template <class Plane>
void rows_of(const ConvolutionShape& s, const float* filters, const Plane& plane, const PlanarRows& part, float* out,
             i64 out_block, const Epilogue& epilogue, const float* residual, float* room) {
  const auto& table = isa();
  const Panels panels{filters, s.channels * s.taps(), s.outputs};
  const auto &rows = part.rows, &columns = part.columns;
  const auto read = rows_read(s, rows.size()), width = columns_read(s, columns.size()), steps = steps_of(s);
  copy_padded(s, plane, rows.begin * s.stride_y, read, columns.begin * s.stride_x, width, room);
  std::array<i64, kMaxPlanarTaps> taps;
  i64 count = 0;
  for (i64 c = 0; c < s.channels; ++c)
    for (i64 i = 0; i < s.kernel_height; ++i)
      for (i64 j = 0; j < s.kernel_width; j += steps)
        taps[count++] = (c * read + i * s.dilation_y) * width + j * s.dilation_x;
  for (auto panel = part.first_panel; panel < part.last_panel; ++panel) {
    const auto panel_columns = panels.columns(panel), column = panel * kColumns;
    const auto together = pixels_together(epilogue, columns.size());
    for (auto y = rows.begin; y < rows.end; ++y)
      for (i64 first = 0; first < columns.size(); first += together) {
        const auto pixels = std::min(together, columns.size() - first);
        const auto place = (panel - part.first_panel) * (kColumns / kBlock) * out_block +
                           ((y - rows.begin) * s.out_width + columns.begin + first) * kBlock;
        Tile tile{};
        tile.in = room + (y - rows.begin) * s.stride_y * width + first * s.stride_x;
        tile.pixel = s.stride_x;
        tile.taps = taps.data();
        tile.blocks = 1;
        tile.tap_count = count;
        tile.steps = steps;
        tile.weights = panels.panel(panel);
        tile.filled = panels.filled(panel);
        tile.out = out + place;
        tile.out_pixel = kBlock;
        tile.out_block = out_block;
        const auto* plus = residual ? residual + place : nullptr;
        begin(tile, epilogue, column, plus, kBlock, out_block);
        table.packed(tile, pixels, static_cast<int>(panel_columns));
        finish(table, tile, pixels, static_cast<int>(panel_columns), epilogue, column, plus, kBlock, out_block);
      }
  }
}

}  // namespace

i64 planar_taps(const ConvolutionShape& s) { return s.channels * s.taps() / steps_of(s); }

i64 planar_filters_size(const ConvolutionShape& s) { return panels_size(s.channels * s.taps(), s.outputs); }

void planar_pack(const ConvolutionShape& s, const float* filters, float* to, ThreadPool& pool) {
  const auto k = s.channels * s.taps();
  pack_panels(filters, 1, k, k, s.outputs, to, pool);
}

i64 planar_scratch_size(const ConvolutionShape& s, int threads) { return threads * Cut(s).floats(s); }

i64 planar_room_size(const ConvolutionShape& s, i64 rows) {
  return s.channels * rows_read(s, rows) * columns_read(s, s.out_width);
}

void planar_rows(const ConvolutionShape& s, const float* filters, const float* in, const PlanarRows& part, float* out,
                 i64 out_block, const Epilogue& epilogue, const float* residual, float* room) {
  const auto plane = [&](i64 c) { return in + c * s.plane(); };
  rows_of(s, filters, plane, part, out, out_block, epilogue, residual, room);
}

void planar_convolution(const ConvolutionShape& s, const float* filters, const float* in, float* out,
                        const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (s.out_plane() == 0) return;
  const Cut cut(s);
  const auto panels = ceil_div(s.outputs, kColumns), out_plane = s.out_plane() * kBlock;
  Slots slots(scratch, cut.floats(s), slots_for(pool));
  parallel(pool, s.batch * cut.bands * cut.strips, [&](i64 chunk) {
    const auto image = chunk / cut.strips / cut.bands;
    const Part band(s.out_height, cut.bands, chunk / cut.strips % cut.bands),
        strip(s.out_width, cut.strips, chunk % cut.strips);
    const Slots::Lease room(slots);
    const auto place = image * blocks_of(s.outputs) * out_plane + band.begin * s.out_width * kBlock;
    planar_rows(s, filters, in + image * s.channels * s.plane(), {band, strip, 0, panels}, out + place, out_plane,
                epilogue, epilogue.residual ? epilogue.residual + place : nullptr, room.data());
  });
  clear_padding(s, epilogue.activation, out);
}

ConvolutionShape planar_slice(const VolumeShape& v) {
  auto s = v.slice;
  s.channels *= v.kernel_planes;
  return s;
}

void planar_volume(const VolumeShape& v, const float* filters, const float* in, float* out, const Epilogue& epilogue,
                   float* scratch, ThreadPool& pool) {
  if (v.out_volume() == 0) return;
  const auto s = planar_slice(v);
  const Cut cut(s);
  const auto panels = ceil_div(s.outputs, kColumns), each = cut.bands * cut.strips;
  Slots slots(scratch, cut.floats(s), slots_for(pool));
  parallel(pool, s.batch * v.out_slices * each, [&](i64 chunk) {
    const auto image = chunk / each / v.out_slices, z = chunk / each % v.out_slices;
    const Part band(s.out_height, cut.bands, chunk / cut.strips % cut.bands),
        strip(s.out_width, cut.strips, chunk % cut.strips);
    const auto plane = [&](i64 c) {
      const auto slice = v.slice_of(z, c % v.planes);
      const bool inside = slice >= 0 && slice < v.slices;
      return inside ? in + ((image * v.slice.channels + c / v.planes) * v.slices + slice) * s.plane() : nullptr;
    };
    const Slots::Lease room(slots);
    const auto place =
        (image * blocks_of(s.outputs) * v.out_volume() + z * s.out_plane() + band.begin * s.out_width) * kBlock;
    rows_of(s, filters, plane, {band, strip, 0, panels}, out + place, v.out_volume() * kBlock, epilogue,
            epilogue.residual ? epilogue.residual + place : nullptr, room.data());
  });
  clear_padding(v, epilogue.activation, out);
}

}  // namespace ovir::fast
