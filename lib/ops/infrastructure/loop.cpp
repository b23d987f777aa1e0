// Loop: runs its body for a number of iterations, or as long as a condition holds, or both.
// Spec: operation-sets/operation-specs/infrastructure/loop-5
#include "ops/infrastructure/common.hpp"

namespace ovir::ops::loop {
namespace {

enum Input { trip_count, execution_condition };

std::optional<bool> known_condition(const Fact& fact) {
  if (!fact.value || fact.value.size() != 1) return std::nullopt;
  return to_i64(fact.value).front() != 0;
}

/// How often the body runs. "trip_count: maximum number of iterations", negative meaning that there is none;
/// a body that slices its inputs ends with their last part.
Dim iterations(const InferContext& c, const Fact& body_condition) {
  const auto trips = c.scalar_int(trip_count);
  const auto begins = known_condition(c.in(execution_condition)), goes_on = known_condition(body_condition);
  Dim count(0, trips && *trips >= 0 ? *trips : Dim::kUnbounded);
  if (const auto parts = infrastructure::sliced_count(c))
    count = Dim(trips && *trips < 0 ? parts->min : std::min(count.max, parts->min), std::min(count.max, parts->max));
  else if (trips) count.min = *trips < 0 ? 1 : *trips;
  if (!trips) count.min = 0;
  if (begins == false) return Dim(0);
  if (goes_on == false) count.max = std::min<i64>(count.max, 1);
  if (goes_on != true) count.min = std::min<i64>(count.min, 1);
  if (begins != true) count.min = 0;
  return Dim(std::min(count.min, count.max), count.max);
}

void infer(InferContext& c) {
  if (c.bodies().empty()) fail(Code::E0208, "Loop needs a <body>");
  const auto& map = c.bodies()[0];
  if (map.condition_result < 0)
    fail(Code::E0208, "the port map of Loop must name the Result that is its execution_condition");
  c.require_single(trip_count);
  c.require_single(execution_condition);
  const auto results = infrastructure::infer_rounds(c);
  const auto& condition = results[map.condition_result];
  if (condition.type != ElementType::dynamic && condition.type != ElementType::boolean)
    fail(Code::E0502, "the execution condition that the body of Loop gives must be boolean, but is {}",
         name(condition.type));
  if (!condition.shape.element_count().contains(1))
    fail(Code::E0504, "the execution condition of Loop must be one element, but its shape is {}",
         to_string(condition.shape));
  infrastructure::infer_outputs(c, results, iterations(c, condition), false);
}

void eval(EvalContext& c) {
  auto limit = c.single_int(trip_count);
  if (const auto parts = infrastructure::sliced_count(c); parts && (limit < 0 || *parts < limit)) limit = *parts;
  infrastructure::run_iterations(c, c.single_int(execution_condition) == 0 ? 0 : limit);
}

constexpr PortDef kInputs[] = {{"trip_count", {"T_IND", kIndex}},
                               {"execution_condition", {"B", kBoolean}},
                               {"inputs", {"T", kAnyType}, Arity::mixed}};
constexpr PortDef kOutputs[] = {{"outputs", {"T_OUT", kAnyType}, Arity::mixed}};
constexpr Version kVersions[] = {
    {.since = 5,
     .inputs = kInputs,
     .outputs = kOutputs,
     .infer = infer,
     .reads = kAllPorts,
     .sized_by_data = true,
     .eval = eval,
     .lift = Lift::moves,
     .pure = false},
};

constexpr BodyDef kBodies[] = {{.role = "body", .iterates = true, .counts = true}};

}  // namespace

extern constinit const OpDef def{
    .type = "Loop", .spec = "infrastructure/loop", .versions = kVersions, .bodies = kBodies};

}  // namespace ovir::ops::loop
