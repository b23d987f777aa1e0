#include "fast/kernels/normalization/blocked.hpp"

#include <array>
#include <cmath>

#include "fast/isa/narrow.hpp"
#include "fast/kernels/chunks.hpp"
#include "tensor/view.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPart = 256;  // pixels; sums of more are taken in parts, which rounds less
using Lanes = std::array<float, kBlock>;
using Totals = std::array<double, kBlock>;

/// As few neighboring blocks as hold whole groups.
struct Unit {
  i64 blocks, plane;
  i64 lanes;  ///< of a group in a block

  /// By lane, the mean over its group of what sum(pixels, how many, to) gives the sums of.
  template <class Sum>
  Totals mean_of(const float* x, Sum sum) const {
    Totals totals{};
    Lanes some;
    for (i64 p = 0; p < blocks * plane; p += kPart) {
      sum(x + p * kBlock, std::min(kPart, blocks * plane - p), some.data());
      for (std::size_t l = 0; l < some.size(); ++l) totals[l] += static_cast<double>(some[l]);
    }
    for (auto group = totals.begin(); group != totals.end(); group += lanes) {
      double total = 0;
      std::for_each(group, group + lanes, [&](double lane) { total += lane; });
      std::fill(group, group + lanes, total / static_cast<double>(blocks * plane * lanes));
    }
    return totals;
  }
};

/// store(block of 16 channels, first pixel, pixels, finish): finish(to) gives what is to be stored, to[pixel][16].
template <class Store>
void normalize_unit(const BlockedNormalization& w, const Unit& unit, i64 channel, const float* x, Store store) {
  const auto& table = isa();
  Lanes mean, factor, scale, bias;
  const auto means = unit.mean_of(x, table.lane_sums);
  std::transform(means.begin(), means.end(), mean.begin(), [](double m) { return static_cast<float>(m); });
  const auto variances =
      unit.mean_of(x, [&](const float* from, i64 n, float* to) { table.lane_deviations(from, mean.data(), n, to); });
  std::transform(variances.begin(), variances.end(), factor.begin(),
                 [&](double v) { return static_cast<float>(1 / std::sqrt(v + static_cast<double>(w.epsilon))); });
  for (i64 b = 0; b < unit.blocks; ++b) {
    std::transform(factor.begin(), factor.end(), w.weight + channel + b * kBlock, scale.begin(), std::multiplies<>());
    std::copy_n(w.bias + channel + b * kBlock, kBlock, bias.begin());
    for (i64 p = 0; p < unit.plane; p += kPart) {
      const auto n = std::min(kPart, unit.plane - p), at = (b * unit.plane + p) * kBlock;
      store(channel / kBlock + b, p, n, [&](float* to) {
        table.lane_normalize(x + at, mean.data(), scale.data(), bias.data(), to, n);
        if (w.activation.f != Function::identity) table.unary(w.activation, to, to, n * kBlock);
      });
    }
  }
}

/// Calls use(unit, image, its first channel) for all of them.
template <class Use>
void each_unit(const BlockedNormalization& w, ThreadPool& pool, Use use) {
  const auto size = w.channels / w.groups;
  const Unit unit{std::max<i64>(size / kBlock, 1), w.plane, std::min(size, kBlock)};
  const auto channels = unit.blocks * kBlock, units = w.channels / channels;
  parallel_ranges(pool, w.batch * units, 100 + static_cast<double>(channels * w.plane) / 3, [&](i64 begin, i64 end) {
    for (auto u = begin; u < end; ++u) use(unit, u / units, u % units * channels);
  });
}

}  // namespace

bool can_normalize_blocked(i64 channels, i64 groups) {
  const auto size = channels / groups;
  return channels > 0 && channels % kBlock == 0 && (size % kBlock == 0 || kBlock % size == 0);
}

void normalize_blocked(const BlockedNormalization& w, const float* x, float* y, ThreadPool& pool) {
  each_unit(w, pool, [&](const Unit& unit, i64 image, i64 channel) {
    const auto begin = (image * w.channels + channel) * w.plane;
    normalize_unit(w, unit, channel, x + begin, [&](i64 block, i64 pixel, i64, const auto& finish) {
      finish(y + image * w.channels * w.plane + (block * w.plane + pixel) * kBlock);
    });
  });
}

void normalize_blocked(const BlockedNormalization& w, const float* x, std::uint16_t* y, ThreadPool& pool) {
  constexpr i64 kHalves = 2 * kBlock;
  const auto blocks = w.channels / kBlock, pairs = ceil_div(blocks, 2);
  auto what = w;
  if (what.activation.f == Function::gelu_erf) what.activation.f = Function::gelu_short;
  each_unit(what, pool, [&](const Unit& unit, i64 image, i64 channel) {
    const auto begin = (image * w.channels + channel) * w.plane;
    normalize_unit(what, unit, channel, x + begin, [&](i64 block, i64 pixel, i64 pixels, const auto& finish) {
      alignas(64) float part[kPart * kBlock];
      finish(part);
      auto* to = y + ((image * pairs + block / 2) * w.plane + pixel) * kHalves + block % 2 * kBlock;
      narrow_isa().rows_to_bf16(part, kBlock, to, kHalves, pixels, kBlock);
      for (i64 p = 0; block % 2 == 0 && block + 1 == blocks && p < pixels; ++p)
        std::fill_n(to + p * kHalves + kBlock, kBlock, std::uint16_t{0});
    });
  });
}

}  // namespace ovir::fast
