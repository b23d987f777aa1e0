// IDFT: the inverse discrete Fourier transform along some axes of complex data.
// Spec: operation-sets/operation-specs/signals/idft-7
#include "ops/signals/common.hpp"

namespace ovir::ops::idft {
namespace {

using namespace signals;

void eval(EvalContext& c) { eval_complex(c, Direction::inverse); }

constexpr Version kVersions[] = {
    {.since = 7, .inputs = kInputs, .outputs = kOutputs, .infer = infer_complex, .reads = ports(1, 2), .eval = eval}};

}  // namespace

extern constinit const OpDef def{.type = "IDFT", .spec = "signals/idft", .versions = kVersions};

}  // namespace ovir::ops::idft
