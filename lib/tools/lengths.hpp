// Which lengths does a test accept? Found by asking, around one that it accepts.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/int.hpp"

namespace ovir::tools {

/// A test may throw this: what was found until then is the answer, and `Lengths::cut` says so.
struct OutOfBudget {};

/// The accepted lengths from 1 to kLongest (twice base, where that is more), in one of three forms:
/// - regular: min, min + step, ..., max, and besides those in `also`, which are smaller than min;
/// - irregular (step 0): `also` holds all that are accepted of from..to, and nothing is said of others;
/// - one length: min and max are it; `also` as before.
struct Lengths {
  static constexpr i64 kLongest = i64{1} << 20;
  static constexpr i64 kTooLong = i64{1} << 40;  ///< around more than this nothing is asked

  i64 base = 0;  ///< the length that it began with
  i64 min = 0;
  std::optional<i64> max;  ///< nothing: none was refused
  i64 step = 1;
  std::vector<i64> also;
  i64 from = 0, to = 0;  ///< irregular: what was asked
  bool cut = false;

  bool irregular() const { return step == 0; }
  bool only_base() const { return !irregular() && min == max && also.empty(); }
  bool contains(i64 n) const;
  /// Refused lengths next to those accepted, in the order: below min, above max, between two steps.
  std::optional<i64> below, above, between;
};

/// `base` counts as accepted. The same questions are asked in every run.
Lengths search_lengths(i64 base, const std::function<bool(i64)>& accepts);

}  // namespace ovir::tools
