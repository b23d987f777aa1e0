#include "fast/kernels/elementwise/u8_elements.hpp"

#include <algorithm>

#include "fast/kernels/convolution/runs.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kRun = 64, kChannels = 4 * kBlock;
constexpr double kCost = 15;  // nanoseconds a pixel of 64 channels

}  // namespace

void u8_sum(const U8Operand& a, const U8Operand& b, float low, float high, const U8Scale& to, std::uint8_t* out,
            i64 batch, i64 channels, i64 plane, ThreadPool& pool) {
  const auto& table = narrow_isa();
  parallel_runs(batch, u8_blocks(channels), plane, kRun, kRun * kCost, pool,
                [&](i64 image, i64 block, i64 first, i64 pixels) {
                  const auto place = ((image * u8_blocks(channels) + block) * plane + first) * kChannels;
                  for (i64 part = 0; part < std::min(kChannels, channels - block * kChannels); part += kBlock) {
                    const auto sixteen = block * (kChannels / kBlock) + part / kBlock;
                    const auto wide_place = ((image * blocks_of(channels) + sixteen) * plane + first) * kBlock;
                    alignas(64) float values[kRun * kBlock];
                    if (a.levels)
                      table.sixteen_from_u8(a.levels + place + part, a.scale.low, a.scale.scale, values, pixels);
                    else std::copy_n(a.wide + wide_place, pixels * kBlock, values);
                    U8Aside sum{.values = values,
                                .min = low,
                                .max = high,
                                .sum_by = to.by[0],
                                .sum_plus = to.plus[0],
                                .sum_max_level = to.max_level,
                                .out = out + place + part,
                                .out_pixel = kChannels};
                    if (b.levels) {
                      sum.residual = b.levels + place + part;
                      sum.residual_pixel = kChannels;
                      sum.other = b.scale.scale[0];
                      sum.offset = b.scale.low[0];
                    } else {
                      sum.wide_residual = b.wide + wide_place;
                      sum.residual_pixel = kBlock;
                      sum.other = 1;
                    }
                    table.u8_finish_aside(sum, pixels);
                  }
                });
}

void u8_gate(const U8Operand& x, const float* gate, bool by_image, const U8Scale& to, std::uint8_t* out, i64 batch,
             i64 channels, i64 plane, ThreadPool& pool) {
  const auto& table = narrow_isa();
  parallel_runs(
      batch, u8_blocks(channels), plane, kRun, kRun * kCost, pool, [&](i64 image, i64 block, i64 first, i64 pixels) {
        const auto place = ((image * u8_blocks(channels) + block) * plane + first) * kChannels;
        for (i64 part = 0; part < std::min(kChannels, channels - block * kChannels); part += kBlock) {
          const auto c = block * kChannels + part, count = std::min(kBlock, channels - c);
          alignas(64) float values[kRun * kBlock], by[kBlock] = {};
          for (i64 k = 0; k < count; ++k) by[k] = to.by[c + k] * gate[(by_image ? image * channels : 0) + c + k];
          const auto* from = values;
          if (x.levels)
            table.sixteen_from_u8(x.levels + place + part, x.scale.low + c, x.scale.scale + c, values, pixels);
          else from = x.wide + ((image * blocks_of(channels) + c / kBlock) * plane + first) * kBlock;
          table.sixteen_to_u8(from, by, to.plus + c, to.max_level, out + place + part, pixels);
        }
      });
}

}  // namespace ovir::fast
