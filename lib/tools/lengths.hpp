// Which lengths does a test accept? Found by asking, around one that it accepts.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace ovir::tools {

/// A test may throw this: what was found until then is the answer, and `Lengths::cut` says so.
struct OutOfBudget {};

/// The accepted lengths from 1 to kLongest (twice base, where that is more), in one of three forms:
/// - regular: min, min + step, ..., max, and besides those in `also`, which are smaller than min;
/// - irregular (step 0): `also` holds all that are accepted of from..to, and nothing is said of others;
/// - one length: min and max are it; `also` as before.
struct Lengths {
  static constexpr std::int64_t kLongest = std::int64_t{1} << 20;
  static constexpr std::int64_t kTooLong = std::int64_t{1} << 40;  ///< around more than this nothing is asked

  std::int64_t base = 0;  ///< the length that it began with
  std::int64_t min = 0;
  std::optional<std::int64_t> max;  ///< nothing: none was refused
  std::int64_t step = 1;
  std::vector<std::int64_t> also;
  std::int64_t from = 0, to = 0;  ///< irregular: what was asked
  bool cut = false;

  bool irregular() const { return step == 0; }
  bool only_base() const { return !irregular() && min == max && also.empty(); }
  bool contains(std::int64_t n) const;
  /// Refused lengths next to those accepted, in the order: below min, above max, between two steps.
  std::optional<std::int64_t> below, above, between;
};

/// `base` counts as accepted. The same questions are asked in every run.
Lengths search_lengths(std::int64_t base, const std::function<bool(std::int64_t)>& accepts);

}  // namespace ovir::tools
