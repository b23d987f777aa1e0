// The ways to run a model. Each must give the same values.
#pragma once
#include <string_view>

#include "base/int.hpp"
#include "ovir.hpp"

namespace ovir::testing {

struct Way {
  std::string_view name;
  Tier tier;
  i64 expected_runs;
};
inline constexpr Way kReference{"reference tier", Tier::reference, 1};
inline constexpr Way kOnce{"fast tier, one run", Tier::fast, 1};
inline constexpr Way kSteady{"fast tier, many runs", Tier::fast, 100};
inline constexpr Way kWays[] = {kReference, kOnce, kSteady};

inline Options options_of(const Way& way, bool computed = false) {
  Options options;
  options.tier = way.tier;
  options.expected_runs = way.expected_runs;
  options.runtime.threads = 2;
  if (computed) options.without = {"fold"};
  return options;
}

/// `computed`: layers whose values inference knows are computed all the same.
inline Session open(std::shared_ptr<const Model> model, const Facts& facts, const Way& way, bool computed = false) {
  return compile(std::move(model), facts, options_of(way, computed));
}

}  // namespace ovir::testing
