#include "fast/kernels/attention/visible_keys.hpp"

#include <algorithm>
#include <limits>

#include "fast/kernels/attention/heads.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

/// Sums of probabilities are those of all keys where whole rounds of four vectors are left out.
constexpr i64 kRound = 64;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
/// The exponential is 0 of what is so far below the highest score.
constexpr float kFar = 128;
/// A query has to see a key to which the mask adds no less than -kNear.
constexpr float kNear = 128;

bool can_hide(const AttentionShape& s, const MaskView& mask, float bound) {
  return s.keys > kRound && mask.column == 1 && mask.grid.columns == 0 &&
         (mask.added || (mask.seen && mask.hidden < -bound - kFar));
}

/// The most that a mask adds to the scores of keys [k, k + n); NaN if it adds that.
float most_added(const MaskView& mask, i64 k, i64 n) {
  if (mask.added) return isa().maximum(mask.added + k, n);
  return mask.from(k).sees_none(n) ? -kInfinity : 0;
}

}  // namespace

KeyRange visible_keys(const AttentionShape& s, const MaskView& mask, i64 first, i64 count, float bound) {
  const KeyRange all{0, s.keys};
  if (s.causal && s.bf16) return {0, std::min(s.keys, round_up(first + count, kKeys))};
  if (s.bf16 || !(bound < kInfinity)) return all;
  if (s.causal) return {0, std::min(s.keys, round_up(first + count, kRound))};
  if (!can_hide(s, mask, bound)) return all;
  const auto lowest = -(2 * bound + kNear + kFar);
  KeyRange seen{s.keys, 0};
  for (i64 i = 0, rows = mask.row == 0 ? 1 : count; i < rows; ++i) {
    const auto here = mask.at(0, 0, i);
    auto best = -kInfinity;
    for (i64 k = 0; k < s.keys; k += kRound) {
      const auto end = std::min(s.keys, k + kRound);
      const auto most = most_added(here, k, end - k);
      if (most <= lowest) continue;
      best = std::max(best, most);
      seen = {std::min(seen.begin, k), std::max(seen.end, end)};
    }
    if (best < -kNear) return all;  // one that sees no key, or only what is as far from the highest score as the rest
  }
  return seen;
}

}  // namespace ovir::fast
