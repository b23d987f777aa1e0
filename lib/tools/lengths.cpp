#include "tools/lengths.hpp"

#include <algorithm>
#include <map>

namespace ovir::tools {
namespace {

constexpr i64 kFineSteps = 64;
// Beyond the fine steps those that models are known to have: patches, windows, hops of audio.
constexpr i64 kCoarseSteps[] = {80,  96,  100, 112, 128, 160, 192, 200, 224,  240,  256, 320,
                                384, 400, 441, 448, 480, 512, 640, 768, 1024, 2048, 4096};
constexpr i64 kPrimes[] = {2, 3, 5, 7, 11, 13, 17, 31, 61, 127};
constexpr i64 kWindow = 128;           // how many lengths are listed where there is no rule
constexpr std::size_t kMaxExtras = 4;  // more lengths besides a rule than these are no rule

class LengthSearch {
 public:
  LengthSearch(i64 base, const std::function<bool(i64)>& accepts) : accepts_(accepts) {
    r_.base = r_.min = base;
    r_.max = base;
    seen_[base] = true;
    longest_ = std::max(Lengths::kLongest, 2 * std::min(base, Lengths::kTooLong));
  }

  Lengths run() {
    if (r_.base > Lengths::kTooLong) return std::move(r_);
    try {
      find();
    } catch (const OutOfBudget&) {
      r_.cut = true;
    }
    std::sort(r_.also.begin(), r_.also.end());
    boundaries();
    return std::move(r_);
  }

 private:
  const std::function<bool(i64)>& accepts_;
  Lengths r_;
  i64 longest_ = 0;
  std::map<i64, bool> seen_;

  bool possible(i64 n) const { return n >= 1 && n <= longest_; }
  bool ok(i64 n) {
    if (const auto known = seen_.find(n); known != seen_.end()) return known->second;
    return possible(n) && (seen_[n] = accepts_(n));
  }
  bool refused(i64 n) const {
    const auto known = seen_.find(n);
    return known != seen_.end() && !known->second;
  }

  void find() {
    const auto up = step(1), down = up > 0 ? 0 : step(-1);
    if (up == 0 && down == 0) return alone();
    r_.step = up > 0 ? up : down;
    const auto longest = last(1), shortest = last(-1);
    // 1 and 7 are no range in steps of 6.
    if (longest == 0 && shortest <= 1 && r_.step > 1) return alone();
    r_.min = r_.base - shortest * r_.step;
    if (r_.min - r_.step == 1 && ok(1)) r_.min = 1;
    const auto top = r_.base + longest * r_.step;
    if (top + r_.step > longest_) r_.max.reset();
    else r_.max = top;
    if (!regular()) list();
  }

  /// No step leads far from base: perhaps single lengths are accepted, as 1 is where it broadcasts.
  void alone() {
    r_.step = 1;
    const bool beyond = r_.base > 0 && (ok(2 * r_.base) || ok(3 * r_.base) || ok(4 * r_.base));
    if (!below_min() || beyond) list();
  }

  /// The smallest step in one direction, 0 where there is none.
  i64 step(i64 direction) {
    for (i64 s = 1; s <= kFineSteps; ++s)
      if (ok(r_.base + direction * s)) return s;
    for (const auto s : kCoarseSteps)
      if (ok(r_.base + direction * s)) return finer(direction, s);
    return direction > 0 && r_.base > kFineSteps && ok(2 * r_.base) ? finer(1, r_.base) : 0;
  }

  /// A coarse step may be a multiple of the real one.
  i64 finer(i64 direction, i64 s) {
    for (i64 parts = s / (kFineSteps + 1); parts > 1; --parts)
      if (s % parts == 0 && ok(r_.base + direction * (s / parts))) return s / parts;
    return s;
  }

  /// How many steps are accepted in one direction: doubled until one is refused, then bisected. Not down to 1, which
  /// broadcasts and so may be accepted where 2 is not.
  i64 last(i64 direction) {
    const auto end = direction > 0 ? (longest_ - r_.base) / r_.step : std::max<i64>(r_.base - 2, 0) / r_.step;
    i64 good = 0, bad = end + 1;
    for (i64 k = 1; good < end; k *= 2) {
      const auto at = std::min(good + k, end);
      if (!ok(r_.base + direction * at * r_.step)) {
        bad = at;
        break;
      }
      good = at;
    }
    while (bad - good > 1) {
      const auto middle = good + (bad - good) / 2;
      (ok(r_.base + direction * middle * r_.step) ? good : bad) = middle;
    }
    return good;
  }

  bool on_grid(i64 n) const { return n >= r_.min && (!r_.max || n <= *r_.max) && (n - r_.min) % r_.step == 0; }

  /// Asks here and there whether the rule holds.
  bool regular() {
    const auto top = r_.max.value_or(longest_);
    const auto halfway = [&](i64 from, i64 to) { return from + (to - from) / r_.step / 2 * r_.step; };
    std::vector<i64> samples{top - 1, halfway(r_.min, r_.base), halfway(r_.base, top)};
    for (const auto p : kPrimes) {
      samples.push_back(r_.base + p * r_.step);
      samples.push_back(r_.base - p * r_.step);
      samples.push_back(r_.base + p * r_.step + r_.step / 2);
      samples.push_back(r_.base + p * r_.step - 1);
    }
    for (i64 k = 1; k < std::min(r_.step, kFineSteps); ++k) samples.push_back(r_.base - k);
    if (r_.max)
      for (const auto k : {2, 3, 4, 8}) samples.push_back(top * k);
    for (const auto n : samples)
      if (possible(n) && n >= r_.min && ok(n) != on_grid(n)) return false;
    return below_min();
  }

  /// Lengths below min that are accepted all the same, as 1 is where it broadcasts.
  bool below_min() {
    std::vector<i64> samples;
    for (i64 n = 1; n < r_.min; n += n < kFineSteps ? 1 : n) samples.push_back(n);
    for (const auto n : {r_.min / 3, r_.min / 2, r_.min - 1}) samples.push_back(n);
    std::sort(samples.begin(), samples.end());
    samples.erase(std::unique(samples.begin(), samples.end()), samples.end());
    for (const auto n : samples)
      if (n < r_.min && ok(n)) r_.also.push_back(n);
    return r_.also.size() <= kMaxExtras;
  }

  void list() {
    r_.step = 0;
    r_.also.clear();
    r_.from = r_.base <= kWindow ? std::min<i64>(r_.base, 1) : r_.base - kWindow / 2;
    for (auto n = r_.from; n < r_.from + kWindow; ++n) {
      if (ok(n)) r_.also.push_back(n);
      r_.to = n;
    }
    r_.min = r_.also.front();
    r_.max = r_.also.back();
  }

  void boundaries() {
    const auto next = [&](i64 n, i64 direction) -> std::optional<i64> {
      if (refused(n)) return n;
      for (n += direction; r_.irregular() && r_.from <= n && n <= r_.to; n += direction)
        if (refused(n)) return n;
      return std::nullopt;
    };
    if (r_.irregular()) {
      r_.below = next(r_.base - 1, -1);
      r_.above = next(r_.base + 1, 1);
      return;
    }
    const bool one = r_.min == r_.max;
    r_.below = next(r_.min - (one ? 1 : r_.step), -1);
    if (r_.max) r_.above = next(*r_.max + (one ? 1 : r_.step), 1);
    if (one || r_.step == 1) return;
    r_.between = next(r_.base + 1, 1);
    if (!r_.between) r_.between = next(r_.base - 1, -1);
  }
};

}  // namespace

bool Lengths::contains(i64 n) const {
  if (std::find(also.begin(), also.end(), n) != also.end()) return true;
  return !irregular() && n >= min && (!max || n <= *max) && (n - min) % step == 0;
}

Lengths search_lengths(i64 base, const std::function<bool(i64)>& accepts) { return LengthSearch(base, accepts).run(); }

}  // namespace ovir::tools
