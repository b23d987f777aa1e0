#include "fast/kernels/normalization/pixels.hpp"

#include <algorithm>

#include "fast/kernels/chunks.hpp"
#include "tensor/view.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kNear = 8 * 1024;  // floats that stay in the first-level cache from pass to pass
constexpr i64 kLeast = 16, kMost = 256;
constexpr double kNanoseconds = 0.2;  // an element

}  // namespace

void normalize_over_channels(const PixelNormalization& w, bool blocked, const float* x, float* y, ThreadPool& pool) {
  if (w.batch * w.channels * w.plane == 0) return;
  const auto& table = isa();
  const i64 lanes = blocked ? kBlock : 1, step = w.plane * lanes;  // of those that lie together
  const NormalizedChannels n{w.channels, step, w.epsilon, w.weight, w.bias};
  const auto pixels = std::clamp(kNear / w.channels / kLeast * kLeast, kLeast, kMost), runs = ceil_div(w.plane, pixels);
  const auto cost = 20 + kNanoseconds * static_cast<double>(w.channels * std::min(w.plane, pixels));
  parallel_ranges(pool, w.batch * runs, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto first = i % runs * pixels, here = std::min(pixels, w.plane - first);
      const auto at = i / runs * w.channels * w.plane + first * lanes;
      (blocked ? table.normalize_pixels : table.normalize_columns)(n, x + at, y + at, here);
      if (w.activation.f == Function::identity) continue;
      for (i64 c = 0; c < w.channels / lanes; ++c)
        table.unary(w.activation, y + at + c * step, y + at + c * step, here * lanes);
    }
  });
}

}  // namespace ovir::fast
