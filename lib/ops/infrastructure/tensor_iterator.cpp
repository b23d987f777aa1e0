// TensorIterator: runs its body once for every part of its sliced inputs.
// Spec: operation-sets/operation-specs/infrastructure/tensor-iterator-1
#include <cstdlib>

#include "ops/infrastructure/common.hpp"

namespace ovir::ops::tensor_iterator {
namespace {

/// Where no input is sliced, what an output says of its parts counts; else the body runs once.
i64 count_without_slices(const BodyMap& map) {
  for (const auto& link : map.outputs)
    if (link.sliced)
      return std::abs(checked_add(link.end, -std::max(link.start, -std::numeric_limits<i64>::max())).value_or(0)) /
             link.part_size;
  return 1;
}

void infer(InferContext& c) {
  if (c.bodies().empty()) fail(Code::E0208, "TensorIterator needs a <body>");
  const auto sliced = infrastructure::sliced_count(c);
  infrastructure::infer_outputs(c, infrastructure::infer_rounds(c),
                                sliced ? *sliced : Dim(count_without_slices(c.bodies()[0])), true);
}

void eval(EvalContext& c) {
  const auto sliced = infrastructure::sliced_count(c);
  infrastructure::run_iterations(c, sliced ? *sliced : count_without_slices(c.bodies()[0]));
}

constexpr PortDef kInputs[] = {{"inputs", {"T", kAnyType}, Arity::mixed}};
constexpr PortDef kOutputs[] = {{"outputs", {"T_OUT", kAnyType}, Arity::mixed}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .infer = infer,
     .reads = kAllPorts,
     .sized_by_data = true,
     .eval = eval,
     .lift = Lift::moves,
     .pure = false},
};

constexpr BodyDef kBodies[] = {{.role = "body", .iterates = true}};

}  // namespace

extern constinit const OpDef def{
    .type = "TensorIterator", .spec = "infrastructure/tensor-iterator", .versions = kVersions, .bodies = kBodies};

}  // namespace ovir::ops::tensor_iterator
