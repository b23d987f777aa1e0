#include "fast/kernels/convolution/depthwise.hpp"

#include <array>
#include <cstring>

#include "fast/kernels/convolution/taps_within.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kBandPixels = 256;  // 16 KiB of output

/// Kernels that DepthwiseBand takes.
bool slides(const ConvolutionShape& s) {
  const auto k = s.kernel_width;
  return s.dilation_x == 1 &&
         (((k == 3 || k == 5) && (s.stride_x == 1 || s.stride_x == 2)) || (k == 7 && s.stride_x == 1));
}

/// Planes are copied with their padding where many columns would need it.
bool pads_planes(const ConvolutionShape& s) {
  if (slides(s)) return false;
  const auto inner = inner_columns(s).size();
  return inner < 6 * (s.out_width - inner);
}
/// They are copied, too, where a channel gives several outputs: as often as it does.
bool copies_planes(const ConvolutionShape& s) { return (s.is_by_channel() && s.group_outputs() > 1) || pads_planes(s); }

i64 padded_width(const ConvolutionShape& s) {
  return std::max(s.pad_left + s.width, (s.out_width - 1) * s.stride_x + (s.kernel_width - 1) * s.dilation_x + 1);
}

i64 copied_width(const ConvolutionShape& s) { return pads_planes(s) ? padded_width(s) : s.width; }

using Four = float __attribute__((vector_size(16)));
Four four(const float* x) {
  Four v;
  std::memcpy(&v, x, sizeof v);
  return v;
}

/// Pixels whose lanes are `count` outputs from `first` on, each the channel that gives it. `in` is the image.
void copy_outputs(const ConvolutionShape& s, const float* in, i64 first, i64 count, i64 pixels, float* to) {
  using Places = int __attribute__((vector_size(16)));
  const auto each = s.group_outputs(), plane = s.plane() * kBlock;
  const auto at = [&](i64 output) { return output / each / kBlock * plane + output / each % kBlock; };
  if (each == 2 && count == kBlock) {
    in += at(first);
    for (i64 p = 0; p < pixels; ++p, in += kBlock, to += kBlock) {
      const auto a = four(in), b = four(in + 4);
      const Four twice[] = {__builtin_shuffle(a, Places{0, 0, 1, 1}), __builtin_shuffle(a, Places{2, 2, 3, 3}),
                            __builtin_shuffle(b, Places{0, 0, 1, 1}), __builtin_shuffle(b, Places{2, 2, 3, 3})};
      std::memcpy(to, twice, sizeof twice);
    }
    return;
  }
  std::array<i64, kBlock> places{};
  for (i64 i = 0; i < count; ++i) places[i] = at(first + i);
  for (i64 p = 0; p < pixels; ++p, in += kBlock, to += kBlock) {
    for (i64 i = 0; i < count; ++i) to[i] = in[places[i]];
    std::fill_n(to + count, kBlock - count, 0.0f);
  }
}

/// Of one block of outputs of an image, with its padding where that is wanted.
void copy_plane(const ConvolutionShape& s, const float* in, i64 block, float* to) {
  const auto width = copied_width(s), left = pads_planes(s) ? s.pad_left : 0;
  const auto first = block * kBlock, count = std::min(kBlock, s.outputs - first);
  for (i64 y = 0; y < s.height; ++y, to += width * kBlock) {
    std::fill_n(to, left * kBlock, 0.0f);
    auto* pixels = to + left * kBlock;
    if (s.group_outputs() == 1) std::copy_n(in + (block * s.height + y) * s.width * kBlock, s.width * kBlock, pixels);
    else copy_outputs(s, in + y * s.width * kBlock, first, count, s.width, pixels);
    std::fill_n(pixels + s.width * kBlock, (width - left - s.width) * kBlock, 0.0f);
  }
}

/// One block of channels of one image.
struct Plane {
  const IsaTable& table;
  const ConvolutionShape& s;
  const Epilogue& e;
  const float* in;
  i64 row;         ///< floats between rows of `in`
  i64 ring;        ///< rows of `in`, which are used again and again; 0: all of them are there
  i64 left;        ///< columns of padding that `in` has
  TapRange inner;  ///< columns for which all taps may be read
  const float* filters;
  float* out;
  const float* residual;
  i64 channel;
  bool adds = false;  ///< to the sums in `out`

  void start(Tile& tile, const float* plus) const {
    if (adds) begin_later(tile, e, channel, tile.out, kBlock, 0);
    else begin(tile, e, channel, plus, kBlock, 0);
  }

  /// `count` columns from x on, by taps [right.begin, right.end) of each row.
  void run(i64 y, i64 x, i64 count, TapRange right) const {
    std::array<i64, kMaxDepthwiseTaps> offsets, weights;
    const auto down = taps_within(y, s.stride_y, s.pad_top, s.dilation_y, s.kernel_height, s.height);
    const auto corner = (y * s.stride_y - s.pad_top) * row + (x * s.stride_x - s.pad_left + left) * kBlock;
    i64 taps = 0;
    for (auto i = down.begin; i < down.end; ++i)
      for (auto j = right.begin; j < right.end; ++j, ++taps) {
        offsets[taps] = corner + i * s.dilation_y * row + j * s.dilation_x * kBlock;
        weights[taps] = (i * s.kernel_width + j) * kBlock;
      }
    const auto place = (y * s.out_width + x) * kBlock;
    // The bounds and the residual as a tile has them.
    Tile tile{};
    tile.out = out + place;
    tile.out_pixel = kBlock;
    const auto* plus = residual ? residual + place : nullptr;
    start(tile, plus);
    table.depthwise({.in = in,
                     .taps = offsets.data(),
                     .tap_weights = weights.data(),
                     .tap_count = taps,
                     .weights = filters,
                     .step = s.stride_x * kBlock,
                     .out = tile.out,
                     .pixels = count,
                     .bias = tile.bias,
                     .residual = tile.residual,
                     .low = tile.low,
                     .high = tile.high});
    finish(table, tile, static_cast<int>(count), kBlock, e, channel, plus, kBlock, 0);
  }

  /// Output rows [first, last), which use rows `down` of the kernel.
  void band(i64 first, i64 last, TapRange down) const {
    const auto place = first * s.out_width * kBlock;
    const auto read = first * s.stride_y - s.pad_top + down.begin * s.dilation_y;
    Tile tile{};
    tile.out = out + place;
    tile.out_pixel = kBlock;
    const auto* plus = residual ? residual + place : nullptr;
    start(tile, plus);
    table.depthwise_band({.columns = static_cast<int>(s.kernel_width),
                          .stride = static_cast<int>(s.stride_x),
                          .group = s.group_channels(),
                          .in = in + (ring > 0 ? read % ring : read) * row,
                          .width = s.width,
                          .first = -s.pad_left,
                          .rows = down.size(),
                          .row = s.dilation_y * row,
                          .end = ring > 0 ? in + ring * row : nullptr,
                          .ring = ring * row,
                          .weights = filters + down.begin * s.kernel_width * kBlock,
                          .channel_weights = s.taps() * kBlock,
                          .lines = last - first,
                          .in_line = s.stride_y * row,
                          .out_line = s.out_width * kBlock,
                          .out = tile.out,
                          .pixels = s.out_width,
                          .bias = tile.bias,
                          .residual = tile.residual,
                          .low = tile.low,
                          .high = tile.high});
    finish(table, tile, static_cast<int>((last - first) * s.out_width), kBlock, e, channel, plus, kBlock, 0);
  }

  /// In bands whose rows use the same rows of the kernel and stay in the first-level cache until they are finished.
  void bands(i64 first, i64 last) const {
    const auto max_rows = std::max<i64>(1, kBandPixels / s.out_width);
    const auto taps = [&](i64 y) {
      return taps_within(y, s.stride_y, s.pad_top, s.dilation_y, s.kernel_height, s.height);
    };
    while (first < last) {
      const auto down = taps(first);
      auto next = first + 1;
      while (next < last && next - first < max_rows && taps(next).begin == down.begin && taps(next).end == down.end)
        ++next;
      band(first, next, down);
      first = next;
    }
  }

  void rows(i64 first, i64 last) const {
    if (slides(s)) return bands(first, last);
    const auto clipped = [&](i64 x) {
      return taps_within(x, s.stride_x, s.pad_left, s.dilation_x, s.kernel_width, s.width);
    };
    for (auto y = first; y < last; ++y) {
      for (i64 x = 0; x < inner.begin; ++x) run(y, x, 1, clipped(x));
      if (inner.size() > 0) run(y, inner.begin, inner.size(), {0, s.kernel_width});
      for (auto x = inner.end; x < s.out_width; ++x) run(y, x, 1, clipped(x));
    }
  }
};

}  // namespace

bool depthwise_slides(const ConvolutionShape& s) { return slides(s); }

void depthwise_rows(const ConvolutionShape& s, const float* filters, const DepthwiseRing& in, float* out,
                    const Epilogue& epilogue, i64 channel, Part rows) {
  const Plane plane{.table = isa(),
                    .s = s,
                    .e = epilogue,
                    .in = in.rows,
                    .row = s.width * kBlock,
                    .ring = in.count,
                    .left = 0,
                    .inner = inner_columns(s),
                    .filters = filters,
                    .out = out - rows.begin * s.out_width * kBlock,
                    .residual = nullptr,
                    .channel = channel};
  plane.bands(rows.begin, rows.end);
}

bool groups_slide(const ConvolutionShape& s) {
  const auto each = s.group_channels();
  return s.groups > 1 && each == s.group_outputs() && (each == 4 || each == 8) && s.kernel_width < 7 && slides(s);
}

i64 depthwise_filters_size(const ConvolutionShape& s) {
  return blocks_of(s.outputs) * s.group_channels() * s.taps() * kBlock;
}

void depthwise_pack(const ConvolutionShape& s, const float* filters, float* to) {
  const auto each = s.group_channels() * s.taps();
  for (i64 c = 0; c < s.outputs; c += kBlock, to += each * kBlock) {
    const auto valid = std::min(kBlock, s.outputs - c);
    if (valid < kBlock) std::fill_n(to, each * kBlock, 0.0f);
    isa().transpose(filters + c * each, each, to, kBlock, valid, each);
  }
}

i64 depthwise_scratch_size(const ConvolutionShape& s, int threads) {
  return copies_planes(s) ? threads * s.height * copied_width(s) * kBlock : 0;
}

void depthwise_convolution(const ConvolutionShape& s, const float* filters, const float* in, float* out,
                           const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  const auto& table = isa();
  const auto blocks = blocks_of(s.outputs), planes = s.batch * blocks;
  if (planes == 0 || s.out_plane() == 0) return;
  const bool copies = copies_planes(s), pads = pads_planes(s);
  const auto width = copied_width(s);
  Slots slots(scratch, s.height * width * kBlock, slots_for(pool));
  const auto plane = [&](i64 i, const float* from, TapRange rows) {
    const auto place = i * s.out_plane() * kBlock;
    const Plane one{.table = table,
                    .s = s,
                    .e = epilogue,
                    .in = from,
                    .row = width * kBlock,
                    .ring = 0,
                    .left = pads ? s.pad_left : 0,
                    .inner = pads ? TapRange{0, s.out_width} : inner_columns(s),
                    .filters = filters + i % blocks * s.group_channels() * s.taps() * kBlock,
                    .out = out + place,
                    .residual = epilogue.residual ? epilogue.residual + place : nullptr,
                    .channel = i % blocks * kBlock};
    one.rows(rows.begin, rows.end);
  };
  const auto row_cost = static_cast<double>(s.out_width) * (2 + static_cast<double>(s.group_channels() * s.taps()) / 3);
  if (copies)
    parallel_ranges(pool, planes, row_cost * static_cast<double>(s.out_height), [&](i64 begin, i64 end) {
      const Slots::Lease room(slots);
      for (auto i = begin; i < end; ++i) {
        copy_plane(s, in + i / blocks * blocks_of(s.channels) * s.plane() * kBlock, i % blocks, room.data());
        plane(i, room.data(), {0, s.out_height});
      }
    });
  else
    parallel_ranges(pool, planes * s.out_height, row_cost, [&](i64 begin, i64 end) {
      while (begin < end) {
        const auto i = begin / s.out_height, first = begin % s.out_height,
                   last = std::min(s.out_height, first + end - begin);
        plane(i, in + i * s.plane() * kBlock, {first, last});
        begin += last - first;
      }
    });
  clear_padding(s, epilogue.activation, out);
}

namespace {

/// Planes of the kernel are rows below each other.
ConvolutionShape with_all_taps(const VolumeShape& v) {
  auto s = v.slice;
  s.kernel_height *= v.kernel_planes;
  return s;
}

}  // namespace

i64 depthwise_volume_filters_size(const VolumeShape& v) { return depthwise_filters_size(with_all_taps(v)); }

void depthwise_volume_pack(const VolumeShape& v, const float* filters, float* to) {
  depthwise_pack(with_all_taps(v), filters, to);
}

void depthwise_volume(const VolumeShape& v, const float* filters, const float* in, float* out, const Epilogue& epilogue,
                      ThreadPool& pool) {
  const auto& s = v.slice;
  const auto& table = isa();
  const auto blocks = blocks_of(s.outputs), slices = s.batch * blocks * v.out_slices;
  if (slices == 0 || s.out_plane() == 0) return;
  auto padding = s;  // where a slice meets nothing else
  padding.kernel_height = 0;
  const auto inner = inner_columns(s);
  /// Rows of an output slice: of so few that their sums stay in the first-level cache.
  const auto rows = [&](i64 i, Part which) {
    const auto volume = i / v.out_slices, z = i % v.out_slices, block = volume % blocks;
    const auto place = i * s.out_plane() * kBlock;
    const auto compute = [&](const ConvolutionShape& shape, i64 plane, i64 from, bool first, bool last) {
      const auto e = part_of(epilogue, first, last);
      const Plane one{.table = table,
                      .s = shape,
                      .e = e,
                      .in = in + (volume * v.slices + from) * s.plane() * kBlock,
                      .row = s.width * kBlock,
                      .ring = 0,
                      .left = 0,
                      .inner = inner,
                      .filters = filters + (block * v.kernel_planes + plane) * s.taps() * kBlock,
                      .out = out + place,
                      .residual = e.residual ? e.residual + place : nullptr,
                      .channel = block * kBlock,
                      .adds = !first};
      one.rows(which.begin, which.end);
    };
    const auto planes = v.inside(z);
    if (planes.size() == 0) compute(padding, 0, 0, true, true);
    for (auto p = planes.begin; p < planes.end; ++p)
      compute(s, p, v.slice_of(z, p), p == planes.begin, p + 1 == planes.end);
  };
  const auto together = std::max<i64>(1, kBandPixels / s.out_width);
  const auto cost = static_cast<double>(s.out_width * (2 + v.planes * s.taps() / 3));
  parallel_ranges(pool, slices * s.out_height, cost, [&](i64 begin, i64 end) {
    while (begin < end) {
      const auto first = begin % s.out_height, count = std::min({together, s.out_height - first, end - begin});
      rows(begin / s.out_height, {first, first + count});
      begin += count;
    }
  });
  clear_padding(v, epilogue.activation, out);
}

}  // namespace ovir::fast
