// ReduceLogicalOr: true where any element along the axes is.
// Spec: operation-sets/operation-specs/reduction/reduce-logical-or-1
#include "op/kit/reduce.hpp"

namespace ovir::ops::reduce_logical_or {
namespace {

void eval(EvalContext& c) {
  using B = std::uint8_t;
  reduce_into<B, B>(
      c, B{0}, [](B all, B x) { return static_cast<B>(all | (x != 0)); }, [](B all, i64) { return all; });
}

constexpr Version kVersions[] = {
    logical_reduce_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{
    .type = "ReduceLogicalOr", .spec = "reduction/reduce-logical-or", .versions = kVersions};

}  // namespace ovir::ops::reduce_logical_or
