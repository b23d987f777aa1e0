#include "fast/kernels/convolution/transposed_depthwise.hpp"

#include <array>
#include <cstring>

#include "fast/kernels/convolution/phase.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kAside = 64;  // pixels of a phase that are computed before they are put between those of others

i64 floor_div(i64 a, i64 b) { return a >= 0 ? a / b : -ceil_div(-a, b); }

/// Rows or columns of the kernel: which they are, and the row or column of the input from which that of output 0 of the
/// phase is counted.
struct Taps {
  struct Tap {
    i64 place, tap;
  };
  std::array<Tap, kMaxTaps> list;
  i64 count;
};

/// An output row of one block of channels.
struct Row {
  const IsaTable& table;
  const ConvolutionShape& s;
  const Epilogue& e;
  const float *in, *filters;
  const float* residual;  ///< of the row; may be null
  float* out;
  i64 channel;
  bool whole;  ///< the loop of sums does all of the epilogue

  /// Outputs [begin, end) of phase x, by those of its columns that lie in the input.
  void run(const Taps& rows, const Taps& columns, i64 x, i64 begin, i64 end, bool clipped) const {
    std::array<i64, kMaxTaps> places, weights;
    i64 taps = 0;
    for (i64 i = 0; i < rows.count; ++i)
      for (i64 j = 0; j < columns.count; ++j) {
        const auto column = begin + columns.list[j].place;
        if (clipped && (column < 0 || column >= s.width)) continue;
        places[taps] = (rows.list[i].place * s.width + column) * kBlock;
        weights[taps++] = (rows.list[i].tap * s.kernel_width + columns.list[j].tap) * kBlock;
      }
    alignas(64) float aside[kAside * kBlock];
    const bool bounded = whole && e.activation.f == Function::clamp;
    for (auto i = begin; i < end; i += kAside) {
      const auto pixels = std::min(kAside, end - i);
      auto* to = out + (i * s.stride_x + x) * kBlock;
      table.depthwise({.in = in + (i - begin) * kBlock,
                       .taps = places.data(),
                       .tap_weights = weights.data(),
                       .tap_count = taps,
                       .weights = filters,
                       .step = kBlock,
                       .out = s.stride_x == 1 ? to : aside,
                       .pixels = pixels,
                       .bias = e.bias ? e.bias + channel : nullptr,
                       .residual = nullptr,
                       .low = bounded ? e.activation.a : -std::numeric_limits<float>::infinity(),
                       .high = bounded ? e.activation.b : std::numeric_limits<float>::infinity()});
      for (i64 p = 0; s.stride_x > 1 && p < pixels; ++p)
        std::memcpy(to + p * s.stride_x * kBlock, aside + p * kBlock, kBlock * sizeof(float));
    }
  }

  void phase(const Taps& rows, i64 x) const {
    Taps columns;
    const auto count = ceil_div(s.out_width - x, s.stride_x);
    i64 begin = 0, end = count;  // whose columns all lie in the input
    columns.count = 0;
    for (i64 j = 0; j < s.kernel_width; ++j) {
      if (!reaches(x + s.pad_left, j, s.dilation_x, s.stride_x)) continue;
      const auto place = floor_div(x + s.pad_left - j * s.dilation_x, s.stride_x);
      columns.list[columns.count++] = {place, j};
      begin = std::max(begin, -place);
      end = std::min(end, s.width - place);
    }
    begin = std::min(begin, count);
    end = std::max(begin, end);
    for (i64 i = 0; i < begin; ++i) run(rows, columns, x, i, i + 1, true);
    if (begin < end) run(rows, columns, x, begin, end, false);
    for (auto i = end; i < count; ++i) run(rows, columns, x, i, i + 1, true);
  }

  void all(i64 y) const {
    Taps rows;
    rows.count = 0;
    for (i64 i = 0; i < s.kernel_height; ++i) {
      if (!reaches(y + s.pad_top, i, s.dilation_y, s.stride_y)) continue;
      const auto place = floor_div(y + s.pad_top - i * s.dilation_y, s.stride_y);
      if (place >= 0 && place < s.height) rows.list[rows.count++] = {place, i};
    }
    for (i64 x = 0; x < std::min(s.stride_x, s.out_width); ++x) phase(rows, x);
    if (whole) return;
    if (residual && !e.residual_last) table.binary(Binary::add, out, 1, residual, 1, out, s.out_width * kBlock);
    if (e.has_activation())
      table.activate(e.activation, e.slopes ? e.slopes + channel : nullptr, out, kBlock,
                     e.residual_last ? residual : nullptr, kBlock, s.out_width, kBlock);
    else if (residual && e.residual_last) table.binary(Binary::add, out, 1, residual, 1, out, s.out_width * kBlock);
  }
};

}  // namespace

void transposed_depthwise(const ConvolutionShape& s, const float* filters, const float* in, float* out,
                          const Epilogue& epilogue, ThreadPool& pool) {
  const auto blocks = blocks_of(s.outputs);
  const bool whole = !epilogue.residual && epilogue.activation.is_clamp();
  const auto taps = static_cast<double>(s.taps()) / static_cast<double>(s.stride_y * s.stride_x);
  parallel_ranges(pool, s.batch * blocks * s.out_height, static_cast<double>(s.out_width) * (3 + taps / 2),
                  [&](i64 begin, i64 end) {
                    for (auto i = begin; i < end; ++i) {
                      const auto plane = i / s.out_height, block = plane % blocks;
                      const auto at = i * s.out_width * kBlock;
                      const Row row{.table = isa(),
                                    .s = s,
                                    .e = epilogue,
                                    .in = in + plane * s.plane() * kBlock,
                                    .filters = filters + block * s.taps() * kBlock,
                                    .residual = epilogue.residual ? epilogue.residual + at : nullptr,
                                    .out = out + at,
                                    .channel = block * kBlock,
                                    .whole = whole};
                      row.all(i % s.out_height);
                    }
                  });
  clear_padding(s, epilogue.activation, out);
}

}  // namespace ovir::fast
