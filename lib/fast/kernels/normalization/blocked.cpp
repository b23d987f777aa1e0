#include "fast/kernels/normalization/blocked.hpp"

#include <array>
#include <cmath>

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

void normalize_unit(const BlockedNormalization& w, const Unit& unit, i64 channel, const float* x, float* y) {
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
      table.lane_normalize(x + at, mean.data(), scale.data(), bias.data(), y + at, n);
      if (w.activation.f != Function::identity) table.unary(w.activation, y + at, y + at, n * kBlock);
    }
  }
}

}  // namespace

bool can_normalize_blocked(i64 channels, i64 groups) {
  const auto size = channels / groups;
  return channels > 0 && channels % kBlock == 0 && (size % kBlock == 0 || kBlock % size == 0);
}

void normalize_blocked(const BlockedNormalization& w, const float* x, float* y, ThreadPool& pool) {
  const auto size = w.channels / w.groups;
  const Unit unit{std::max<i64>(size / kBlock, 1), w.plane, std::min(size, kBlock)};
  const auto channels = unit.blocks * kBlock, floats = channels * w.plane;
  parallel_ranges(pool, w.batch * w.channels / channels, 100 + static_cast<double>(floats) / 3,
                  [&](i64 begin, i64 end) {
                    for (auto u = begin; u < end; ++u)
                      normalize_unit(w, unit, u * channels % w.channels, x + u * floats, y + u * floats);
                  });
}

}  // namespace ovir::fast
