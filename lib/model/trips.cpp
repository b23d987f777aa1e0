#include "model/trips.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace ovir {
namespace {

const BodyDef* def_of(const Node& node, int body) {
  const auto& defs = node.op->bodies;
  return defs.empty() ? nullptr : &defs[std::min<i64>(body, std::ssize(defs) - 1)];
}

/// The length of the axis that is sliced or concatenated, where it is known.
std::optional<i64> length_along(const BodyLink& link, const PartialShape& shape) {
  if (!shape.has_rank()) return std::nullopt;
  const auto axis = link.axis < 0 ? link.axis + shape.rank() : link.axis;
  if (axis < 0 || axis >= shape.rank() || !shape[axis].is_static()) return std::nullopt;
  return shape[axis].length();
}

}  // namespace

std::optional<i64> trip_count(const Model& model, const Facts& facts, int node_index, int body) {
  const auto& node = model[node_index];
  const auto* const def = def_of(node, body);
  if (def && !def->iterates) return 1;
  const auto& map = node.maps[body];
  std::optional<i64> count;
  for (const auto& link : map.inputs) {
    if (!link.sliced || link.port < 0) continue;
    const auto length = length_along(link, facts.of(node.inputs[link.port]).shape);
    if (!length || link.stride == 0) return std::nullopt;
    const auto border = [&](i64 v) { return std::clamp<i64>(v < 0 ? v + *length + 1 : v, 0, *length); };
    const auto step = std::abs(std::max(link.stride, -std::numeric_limits<i64>::max()));
    const auto parts = std::abs(border(link.end) - border(link.start)) / step;
    count = std::min(count.value_or(parts), parts);
  }
  for (const auto& link : map.outputs) {
    if (count || !link.sliced || link.port < 0) continue;
    if (const auto length = length_along(link, facts.outputs[node_index][link.port].shape))
      count = *length / std::max<i64>(1, link.part_size);
  }
  // A body that counts its iterations has their greatest number at input 0.
  const bool counts = def && def->counts && !node.inputs.empty();
  if (const auto& limit = counts ? facts.of(node.inputs[0]).value : Tensor(); limit && limit.size() == 1)
    if (const auto most = to_i64(limit)[0]; most >= 0) count = std::min(count.value_or(most), most);
  return count;
}

bool always_runs(const Model& model, const Facts& facts, int node_index, int body) {
  const auto& node = model[node_index];
  const auto* const def = def_of(node, body);
  if (!def || !def->iterates) return false;
  if (!def->counts) return true;
  const auto holds = [](const Fact& fact) {
    return fact.value && fact.value.size() == 1 && to_i64(fact.value)[0] != 0;
  };
  const auto& inner = *node.bodies[body];
  const auto result = node.maps[body].condition_result;
  const auto& results = facts.bodies[node_index];
  if (node.inputs.size() < 2 || result < 0 || body >= std::ssize(results)) return false;
  const auto& condition = results[body].outputs[inner.results[result]];
  return holds(facts.of(node.inputs[1])) && !condition.empty() && holds(condition[0]);
}

}  // namespace ovir
