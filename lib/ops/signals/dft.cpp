// DFT: the discrete Fourier transform along some axes of complex data.
// Spec: operation-sets/operation-specs/signals/dft-7
#include "ops/signals/common.hpp"

namespace ovir::ops::dft {
namespace {

using namespace signals;

void eval(EvalContext& c) { eval_complex(c, Direction::forward); }

constexpr Version kVersions[] = {
    {.since = 7, .inputs = kInputs, .outputs = kOutputs, .infer = infer_complex, .reads = ports(1, 2), .eval = eval}};

}  // namespace

extern constinit const OpDef def{.type = "DFT", .spec = "signals/dft", .versions = kVersions};

}  // namespace ovir::ops::dft
