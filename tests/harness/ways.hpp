// The ways to run a model. Each must give the same values.
#pragma once
#include <string_view>

#include "ovir.hpp"

namespace ovir::testing {

struct Way {
  std::string_view name;
  passes::Tier tier;
  bool repeated;  ///< runs are prepared for, as with --steps
};
inline constexpr Way kReference{"reference tier", passes::Tier::reference, false};
inline constexpr Way kOnce{"fast tier, one run", passes::Tier::fast, false};
inline constexpr Way kSteady{"fast tier, many runs", passes::Tier::fast, true};
inline constexpr Way kWays[] = {kReference, kOnce, kSteady};

/// `computed`: layers whose values inference knows are computed all the same.
inline Session open(std::shared_ptr<const Model> model, const Facts& facts, const Way& way, bool computed = false) {
  return compile(std::move(model), facts, {way.tier, computed, way.repeated});
}

}  // namespace ovir::testing
