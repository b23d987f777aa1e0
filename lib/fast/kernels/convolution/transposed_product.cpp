#include "fast/kernels/convolution/transposed_product.hpp"

#include <array>

#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kMostPixels = 28;  // of all planes: two tiles, for which weights are read

/// A column for each lane of each tap of each block of outputs.
i64 columns_of(const ConvolutionShape& s) { return blocks_of(s.outputs) * s.taps() * kBlock; }
Panels panels_of(const ConvolutionShape& s, const float* filters) { return {filters, s.channels, columns_of(s)}; }

i64 pixels_size(const ConvolutionShape& s) {
  return s.plane() == 1 ? 0 : s.batch * s.plane() * blocks_of(s.channels) * kBlock;
}

/// Taps that reach a place of an axis, and the input pixels from which they do.
struct Reaching {
  std::array<i64, kMaxTaps> taps, pixels;
  i64 count = 0;
  Reaching(i64 place, i64 pad, i64 kernel, i64 dilation, i64 stride, i64 length) {
    for (i64 tap = 0; tap < kernel; ++tap) {
      const auto from = place + pad - tap * dilation;
      if (from < 0 || from % stride != 0 || from / stride >= length) continue;
      taps[count] = tap;
      pixels[count++] = from / stride;
    }
  }
};

struct Scatter {
  const ConvolutionShape& s;
  const Epilogue& e;
  const float* results;
  float* out;

  /// Output row y of a block.
  void row(i64 image, i64 block, i64 y) const {
    const auto place = ((image * blocks_of(s.outputs) + block) * s.out_plane() + y * s.out_width) * kBlock;
    const auto* residual = e.residual ? e.residual + place : nullptr;
    Tile tile{};
    tile.out = out + place;
    tile.out_pixel = kBlock;
    begin(tile, e, block * kBlock, residual, kBlock, 0);
    const Reaching rows(y, s.pad_top, s.kernel_height, s.dilation_y, s.stride_y, s.height);
    const auto* from = results + image * s.plane() * columns_of(s) + block * s.taps() * kBlock;
    for (i64 x = 0; x < s.out_width; ++x) {
      const Reaching columns(x, s.pad_left, s.kernel_width, s.dilation_x, s.stride_x, s.width);
      std::array<float, kBlock> sum{};
      for (i64 i = 0; i < rows.count; ++i)
        for (i64 j = 0; j < columns.count; ++j) {
          const auto pixel = rows.pixels[i] * s.width + columns.pixels[j];
          const auto* tap = from + pixel * columns_of(s) + (rows.taps[i] * s.kernel_width + columns.taps[j]) * kBlock;
          for (i64 l = 0; l < kBlock; ++l) sum[l] += tap[l];
        }
      for (i64 l = 0; l < kBlock; ++l) {
        if (tile.bias) sum[l] += tile.bias[l];
        if (tile.residual) sum[l] += tile.residual[x * kBlock + l];
        // As the loops of tiles have it: NaN stays.
        const auto above = tile.low > sum[l] ? tile.low : sum[l];
        tile.out[x * kBlock + l] = tile.high < above ? tile.high : above;
      }
    }
    finish(isa(), tile, static_cast<int>(s.out_width), kBlock, e, block * kBlock, residual, kBlock, 0);
  }
};

}  // namespace

bool transposed_product_pays(const ConvolutionShape& s) { return s.groups == 1 && s.plane() <= kMostPixels; }

i64 transposed_product_filters_size(const ConvolutionShape& s) { return panels_size(s.channels, columns_of(s)); }

void transposed_product_pack(const ConvolutionShape& s, const float* filters, float* to, ThreadPool& pool) {
  const auto panels = panels_of(s, to);
  const auto taps = s.taps();
  parallel_ranges(pool, panels.count(), static_cast<double>(s.channels * kColumns), [&](i64 begin, i64 end) {
    for (auto panel = begin; panel < end; ++panel) {
      const auto columns = panels.columns(panel);
      auto* packed = to + (panels.panel(panel) - to);
      for (i64 c = 0; c < s.channels; ++c)
        for (i64 i = 0; i < columns; ++i) {
          const auto part = (panel * kColumns + i) / kBlock, output = part / taps * kBlock + i % kBlock;
          *packed++ = output < s.outputs ? filters[(c * s.outputs + output) * taps + part % taps] : 0.0f;
        }
    }
  });
}

i64 transposed_product_scratch_size(const ConvolutionShape& s) {
  return pixels_size(s) + s.batch * s.plane() * columns_of(s);
}

void transposed_product(const ConvolutionShape& s, const float* filters, const float* in, float* out,
                        const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (s.out_plane() == 0) return;
  const auto blocks = blocks_of(s.channels), plane = s.plane(), pixels = s.batch * plane;
  if (plane > 1) {  // the channels of a pixel side by side
    parallel_ranges(pool, s.batch * blocks, static_cast<double>(plane) * 4, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i)
        for (i64 p = 0; p < plane; ++p)
          std::copy_n(in + (i * plane + p) * kBlock, kBlock,
                      scratch + ((i / blocks * plane + p) * blocks + i % blocks) * kBlock);
    });
    in = scratch;
  }
  auto* const results = scratch + pixels_size(s);
  product(panels_of(s, filters), in, blocks * kBlock, results, columns_of(s), pixels, {}, pool);
  const Scatter scatter{s, epilogue, results, out};
  const auto rows = s.batch * blocks_of(s.outputs) * s.out_height;
  parallel_ranges(pool, rows, static_cast<double>(s.out_width * (8 + s.taps())) * 4, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i)
      scatter.row(i / s.out_height / blocks_of(s.outputs), i / s.out_height % blocks_of(s.outputs), i % s.out_height);
  });
  clear_padding(s, epilogue.activation, out);
}

}  // namespace ovir::fast
