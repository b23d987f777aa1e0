#include "fast/kernels/normalization/blocked.hpp"

#include <array>
#include <cmath>

#include "fast/isa/narrow.hpp"
#include "fast/kernels/chunks.hpp"
#include "tensor/view.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPart = 256;           // pixels; sums of more are taken in parts, which rounds less
constexpr i64 kHalves = 2 * kBlock;  // of a block in bf16
using Lanes = std::array<float, kBlock>;
using Totals = std::array<double, kBlock>;

/// As few neighboring blocks as hold whole groups.
struct Unit {
  i64 blocks, plane;
  i64 lanes;  ///< of a group in a block

  /// By lane, the mean over its group of what sum(block, first pixel, pixels, to) gives the sums of.
  template <class Sum>
  Totals mean_of(Sum sum) const {
    Totals totals{};
    Lanes some;
    for (i64 b = 0; b < blocks; ++b)
      for (i64 p = 0; p < plane; p += kPart) {
        sum(b, p, std::min(kPart, plane - p), some.data());
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

/// By lane: y = (x - mean)·scale + bias.
struct Normal {
  Lanes mean, scale, bias;
};

/// sum(block, first pixel, pixels, mean, to) gives what Unit::mean_of wants: of x, or where there are means of
/// (x - mean)². Calls store(block, first pixel, pixels, normal) for all pixels.
template <class Sum, class Store>
void normalize_unit(const BlockedNormalization& w, const Unit& unit, i64 channel, Sum sum, Store store) {
  Lanes factor;
  Normal normal;
  const auto means = unit.mean_of([&](i64 b, i64 p, i64 n, float* to) { sum(b, p, n, nullptr, to); });
  std::transform(means.begin(), means.end(), normal.mean.begin(), [](double m) { return static_cast<float>(m); });
  const auto variances = unit.mean_of([&](i64 b, i64 p, i64 n, float* to) { sum(b, p, n, normal.mean.data(), to); });
  std::transform(variances.begin(), variances.end(), factor.begin(),
                 [&](double v) { return static_cast<float>(1 / std::sqrt(v + static_cast<double>(w.epsilon))); });
  for (i64 b = 0; b < unit.blocks; ++b) {
    std::transform(factor.begin(), factor.end(), w.weight + channel + b * kBlock, normal.scale.begin(),
                   std::multiplies<>());
    std::copy_n(w.bias + channel + b * kBlock, kBlock, normal.bias.begin());
    for (i64 p = 0; p < unit.plane; p += kPart) store(b, p, std::min(kPart, unit.plane - p), normal);
  }
}

/// The same of f32: store(block, first pixel, pixels, finish), finish(to) gives what is to be stored, to[pixel][16].
template <class Store>
void normalize_wide(const BlockedNormalization& w, const Unit& unit, i64 channel, const float* x, Store store) {
  const auto& table = isa();
  const auto sum = [&](i64 b, i64 p, i64 n, const float* mean, float* to) {
    const auto* from = x + (b * unit.plane + p) * kBlock;
    if (mean) table.lane_deviations(from, mean, n, to);
    else table.lane_sums(from, n, to);
  };
  normalize_unit(w, unit, channel, sum, [&](i64 b, i64 p, i64 n, const Normal& normal) {
    store(b, p, n, [&](float* to) {
      table.lane_normalize(x + (b * unit.plane + p) * kBlock, normal.mean.data(), normal.scale.data(),
                           normal.bias.data(), to, n);
      if (w.activation.f != Function::identity) table.unary(w.activation, to, to, n * kBlock);
    });
  });
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

/// Where the 16 channels of a block begin in bf16, whose blocks have 32.
i64 half_block(const BlockedNormalization& w, i64 image, i64 block) {
  return (image * ceil_div(w.channels, kHalves) + block / 2) * w.plane * kHalves + block % 2 * kBlock;
}
/// Whether the other half of its block in bf16 has no channels.
bool ends_alone(const BlockedNormalization& w, i64 block) {
  return block % 2 == 0 && (block + 1) * kBlock == w.channels;
}
void clear_others(std::uint16_t* y, i64 pixels) {
  for (i64 p = 0; p < pixels; ++p) std::fill_n(y + p * kHalves + kBlock, kBlock, std::uint16_t{0});
}

}  // namespace

bool can_normalize_blocked(i64 channels, i64 groups) {
  const auto size = channels / groups;
  return channels > 0 && channels % kBlock == 0 && (size % kBlock == 0 || kBlock % size == 0);
}

void normalize_blocked(const BlockedNormalization& w, const float* x, float* y, ThreadPool& pool) {
  each_unit(w, pool, [&](const Unit& unit, i64 image, i64 channel) {
    const auto begin = (image * w.channels + channel) * w.plane;
    normalize_wide(w, unit, channel, x + begin, [&](i64 block, i64 pixel, i64, const auto& finish) {
      finish(y + begin + (block * w.plane + pixel) * kBlock);
    });
  });
}

void normalize_blocked(const BlockedNormalization& w, const float* x, std::uint16_t* y, ThreadPool& pool) {
  auto what = w;
  what.activation = what.activation.shortened();
  each_unit(what, pool, [&](const Unit& unit, i64 image, i64 channel) {
    const auto begin = (image * w.channels + channel) * w.plane;
    normalize_wide(what, unit, channel, x + begin, [&](i64 block, i64 pixel, i64 pixels, const auto& finish) {
      alignas(64) float part[kPart * kBlock];
      finish(part);
      const auto place = half_block(w, image, channel / kBlock + block) + pixel * kHalves;
      narrow_isa().rows_to_bf16(part, kBlock, y + place, kHalves, pixels, kBlock);
      if (ends_alone(w, channel / kBlock + block)) clear_others(y + place, pixels);
    });
  });
}

bool can_normalize_bf16(const Unary& activation) {
  return activation.f == Function::identity || activation.f == Function::gelu_erf;
}

void normalize_blocked(const BlockedNormalization& w, const std::uint16_t* x, std::uint16_t* y, ThreadPool& pool) {
  const auto& table = narrow_isa();
  each_unit(w, pool, [&](const Unit& unit, i64 image, i64 channel) {
    const auto place = [&](i64 block, i64 pixel) {
      return half_block(w, image, channel / kBlock + block) + pixel * kHalves;
    };
    const auto sum = [&](i64 block, i64 pixel, i64 pixels, const float* mean, float* to) {
      table.lane_sums(x + place(block, pixel), pixels, mean, to);
    };
    normalize_unit(w, unit, channel, sum, [&](i64 block, i64 pixel, i64 pixels, const Normal& normal) {
      auto* to = y + place(block, pixel);
      table.lane_normalize(x + place(block, pixel), pixels, normal.mean.data(), normal.scale.data(), normal.bias.data(),
                           w.activation.f == Function::gelu_erf, to);
      if (ends_alone(w, channel / kBlock + block)) clear_others(to, pixels);
    });
  });
}

}  // namespace ovir::fast
