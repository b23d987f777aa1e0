// fuse: the patterns of the fast tier take groups of nodes.
#include "plan/passes.hpp"

namespace ovir::plan_passes {

void fuse(Plan& plan, const PlanOptions& options) {
  if (options.tier == Tier::fast && options.has("fuse")) take_nodes(plan, options, true);
}

}  // namespace ovir::plan_passes
