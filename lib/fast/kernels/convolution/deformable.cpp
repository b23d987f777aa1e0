#include "fast/kernels/convolution/deformable.hpp"

#include <array>
#include <cstring>

#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPixels = 42;  // of a chunk: whole tiles of 6 and of 14

i64 chunk_pixels(const DeformableShape& d) { return std::min(kPixels, d.plane.out_plane()); }

/// Floats that a chunk's samples take, [group][pixel][tap][channel], and its results, [pixel][output].
i64 samples_size(const DeformableShape& d) { return round_up(chunk_pixels(d) * d.plane.groups * d.depth(), kBlock); }
i64 chunk_size(const DeformableShape& d) { return samples_size(d) + chunk_pixels(d) * d.out_row(); }

/// All pixels of a plane, [pixel][channel], and zeros in place of another.
i64 rows_size(const DeformableShape& d) {
  return round_up((d.plane.batch * d.plane.plane() + 1) * d.plane.channels, kBlock);
}

/// The pixels that a tap reads, and what each counts.
struct Corners {
  std::array<const float*, 4> pixels;
  std::array<float, 4> weights;
};

struct Deformable {
  const DeformableShape& d;
  const DeformableData& data;
  const Epilogue& epilogue;
  const float *rows, *nothing;
  const IsaTable& table = isa();
  const ConvolutionShape& s = d.plane;

  /// At (y, x); places are computed in double precision, since what lies beyond the plane does not count at all.
  Corners corners(const float* image, double y, double x, double mask) const {
    const double min = d.padded ? -1 : 0;
    Corners to{{nothing, nothing, nothing, nothing}, {static_cast<float>(mask), 0, 0, 0}};
    if (!(y >= min && y < static_cast<double>(s.height) && x >= min && x < static_cast<double>(s.width))) return to;
    if (!d.padded) {
      y = std::min(y, static_cast<double>(s.height - 1));
      x = std::min(x, static_cast<double>(s.width - 1));
    }
    const auto floor = [](double v) { return static_cast<i64>(v) - (v < static_cast<double>(static_cast<i64>(v))); };
    const auto top = floor(y), left = floor(x);
    const auto dy = y - static_cast<double>(top), dx = x - static_cast<double>(left);
    for (std::size_t i = 0; i < 4; ++i) {
      const bool below = i >= 2, right = i % 2 == 1;
      const auto row = top + below, column = left + right;
      to.weights[i] = static_cast<float>((below ? dy : 1 - dy) * (right ? dx : 1 - dx) * mask);
      if (row >= 0 && row < s.height && column >= 0 && column < s.width)
        to.pixels[i] = image + (row * s.width + column) * s.channels;
    }
    return to;
  }

  /// What the taps of output pixel `at` see.
  void sample(i64 image, i64 at, float* to, i64 group_size) const {
    const auto taps = s.taps(), plane = s.out_plane(), group = s.group_channels(),
               together = s.channels / d.deformable_groups;
    const auto top = at / s.out_width * s.stride_y - s.pad_top, left = at % s.out_width * s.stride_x - s.pad_left;
    const auto* from = rows + image * s.plane() * s.channels;
    for (i64 deformed = 0; deformed < d.deformable_groups; ++deformed)
      for (i64 tap = 0; tap < taps; ++tap) {
        const auto k = (image * d.deformable_groups + deformed) * taps + tap;
        const auto* moved = data.offsets + k * 2 * plane + at;
        const auto row = top + tap / s.kernel_width * s.dilation_y, column = left + tap % s.kernel_width * s.dilation_x;
        auto seen = corners(from, static_cast<double>(row) + static_cast<double>(moved[0]),
                            static_cast<double>(column) + static_cast<double>(moved[plane]),
                            data.mask ? static_cast<double>(data.mask[k * plane + at]) : 1);
        const auto last = (deformed + 1) * together;
        for (auto c = deformed * together; c < last;) {
          const auto next = std::min(last, (c / group + 1) * group);
          std::array<const float*, 4> pixels;
          for (std::size_t i = 0; i < 4; ++i) pixels[i] = seen.pixels[i] + c;
          table.weighted_sum(seen.weights.data(), pixels.data(), 4,
                             to + c / group * group_size + tap * group + c % group, next - c, true);
          c = next;
        }
      }
  }

  void store(i64 image, const Part& pixels, const float* from) const {
    const auto plane = s.out_plane(), row = d.out_row();
    if (data.blocked_out) {
      const auto blocks = row / kBlock;
      for (i64 block = 0; block < blocks; ++block)
        for (auto p = pixels.begin; p < pixels.end; ++p)
          std::memcpy(data.y + ((image * blocks + block) * plane + p) * kBlock,
                      from + (p - pixels.begin) * row + block * kBlock, kBlock * sizeof(float));
      return;
    }
    const auto first = image * s.outputs * plane + pixels.begin;
    table.transpose(from, row, data.y + first, plane, pixels.size(), s.outputs);
    if (!epilogue.residual) return;
    for (i64 o = 0; o < s.outputs; ++o) {
      auto* y = data.y + first + o * plane;
      finish_row(table, epilogue, o, 0, y, epilogue.residual + first + o * plane, y, pixels.size());
    }
  }

  void pixels(i64 image, const Part& pixels, float* samples) const {
    const auto depth = d.depth(), n = pixels.size(), group_size = n * depth, outputs = s.group_outputs();
    auto* sums = samples + samples_size(d);
    for (i64 p = 0; p < n; ++p) sample(image, pixels.begin + p, samples + p * depth, group_size);
    for (i64 g = 0; g < s.groups; ++g)
      product_alone({data.filters + g * panels_size(depth, outputs), depth, outputs}, samples + g * group_size, depth,
                    sums + g * outputs, d.out_row(), n, epilogue.residual ? Epilogue{} : epilogue.from(0, g * outputs));
    if (data.blocked_out && s.outputs < d.out_row())
      for (i64 p = 0; p < n; ++p) std::fill(sums + p * d.out_row() + s.outputs, sums + (p + 1) * d.out_row(), 0.0f);
    store(image, pixels, sums);
  }
};

}  // namespace

i64 deformable_filters_size(const DeformableShape& d) {
  return d.plane.groups * panels_size(d.depth(), d.plane.group_outputs());
}

i64 deformable_packing_size(const DeformableShape& d) { return d.plane.outputs * d.depth(); }

void pack_deformable(const DeformableShape& d, const float* filters, float* work, float* to, ThreadPool& pool) {
  const auto& s = d.plane;
  const auto depth = d.depth(), taps = s.taps(), channels = s.group_channels(), outputs = s.group_outputs();
  parallel_ranges(pool, s.outputs, static_cast<double>(depth) / 2, [&](i64 begin, i64 end) {
    for (auto o = begin; o < end; ++o)
      isa().transpose(filters + o * depth, taps, work + o * depth, channels, channels, taps);
  });
  for (i64 g = 0; g < s.groups; ++g)
    pack_panels(work + g * outputs * depth, 1, depth, depth, outputs, to + g * panels_size(depth, outputs), pool);
}

i64 deformable_scratch_size(const DeformableShape& d, int threads) { return rows_size(d) + threads * chunk_size(d); }

void deformable_convolution(const DeformableShape& d, const DeformableData& data, const Epilogue& epilogue,
                            float* scratch, ThreadPool& pool) {
  const auto& s = d.plane;
  const auto pixels = s.batch * s.plane();
  if (data.blocked_in) {
    blocked_to_rows(data.x, scratch, s.batch, s.channels, s.plane(), pool);
  } else {
    const auto blocks = ceil_div(s.plane(), kBlock);
    parallel_ranges(pool, s.batch * blocks, static_cast<double>(s.channels * kBlock) / 2, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i) {
        const auto image = i / blocks * s.channels * s.plane(), first = i % blocks * kBlock;
        isa().transpose(data.x + image + first, s.plane(), scratch + image + first * s.channels, s.channels, s.channels,
                        std::min(kBlock, s.plane() - first));
      }
    });
  }
  auto* nothing = scratch + pixels * s.channels;
  std::fill_n(nothing, s.channels, 0.0f);
  const Deformable job{d, data, epilogue, scratch, nothing};
  const auto parts = ceil_div(s.out_plane(), kPixels);
  Slots rooms(scratch + rows_size(d), chunk_size(d), slots_for(pool));
  parallel(pool, s.batch * parts, [&](i64 i) {
    const Slots::Lease room(rooms);
    job.pixels(i / parts, {s.out_plane(), parts, i % parts}, room.data());
  });
}

}  // namespace ovir::fast
