// The patterns of the fast tier that this build and this machine have.
#pragma once
#include <span>
#include <vector>

#include "plan/pattern.hpp"

namespace ovir::fast {

namespace patterns {

/// ovir's own, by name: lib/fast/patterns/<name>.cpp.
std::span<const Pattern* const> all();

}  // namespace patterns

/// Those that serve such a plan, in order of preference. The oneDNN module is opened when a plan that runs often has
/// nodes for it; without it, or where it does not load, there are ovir's own kernels and the reference kernels.
std::vector<const Pattern*> patterns_for(const PlanOptions& options);

}  // namespace ovir::fast
