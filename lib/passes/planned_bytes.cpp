#include "passes/planned_bytes.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"

namespace ovir::passes {
namespace {

constexpr auto kUncountable = std::numeric_limits<i64>::max();

/// 0 where the type or the shape is open.
i64 bytes_of(const Fact& fact) {
  if (fact.type == ElementType::dynamic || !fact.shape.is_static()) return 0;
  const auto count = checked_product(fact.shape.to_shape());
  return count ? checked_mul(*count, byte_width(fact.type)).value_or(kUncountable) : kUncountable;
}

i64 sum(i64 a, i64 b) { return checked_add(a, b).value_or(kUncountable); }

/// Which outputs are read by what is computed: from the ends backwards.
std::vector<std::vector<bool>> read_outputs(const Model& model, const Facts& facts) {
  std::vector<std::vector<bool>> read(model.nodes.size());
  for (std::size_t i = 0; i < read.size(); ++i) read[i].resize(facts.outputs[i].size());
  for (auto i = model.nodes.size(); i-- > 0;) {
    const auto& node = model.nodes[i];
    if (!node.ends() && std::find(read[i].begin(), read[i].end(), true) == read[i].end()) continue;
    for (const auto v : node.inputs)
      if (v.node >= 0 && !facts.of(v).value) read[v.node][v.port] = true;
  }
  return read;
}

}  // namespace

PlannedBytes planned_bytes(const Model& model, const Facts& facts) {
  PlannedBytes largest;
  const auto read = read_outputs(model, facts);
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const auto& node = model.nodes[i];
    if (!node.op || node.op->kind != Kind::compute) continue;
    i64 given = 0, made = 0;
    for (const auto v : node.inputs)
      if (v.node >= 0) given = sum(given, bytes_of(facts.of(v)));
    for (std::size_t o = 0; o < read[i].size(); ++o)
      if (read[i][o]) made = sum(made, bytes_of(facts.outputs[i][o]));
    if (made > given && made > largest.bytes) largest = {made, &node};
  }
  return largest;
}

}  // namespace ovir::passes
