// ReduceLogicalAnd: true where all elements along the axes are.
// Spec: operation-sets/operation-specs/reduction/reduce-logical-and-1
#include "op/kit/reduce.hpp"

namespace ovir::ops::reduce_logical_and {
namespace {

void eval(EvalContext& c) {
  using B = std::uint8_t;
  reduce_into<B, B>(
      c, B{1}, [](B all, B x) { return static_cast<B>(all & (x != 0)); }, [](B all, i64) { return all; });
}

constexpr Version kVersions[] = {
    logical_reduce_version(1, eval),
};

}  // namespace

extern constinit const OpDef def{
    .type = "ReduceLogicalAnd", .spec = "reduction/reduce-logical-and", .versions = kVersions};

}  // namespace ovir::ops::reduce_logical_and
