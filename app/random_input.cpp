#include "random_input.hpp"

#include <algorithm>
#include <optional>

#include "io/generate.hpp"
#include "names.hpp"
#include "tools/input_ports.hpp"

namespace ovir::app {
namespace {

/// The least length of axes [from, to) that is possible, at least 1.
i64 min_length(const PartialShape& shape, i64 from, i64 to) {
  i64 min = Dim::kUnbounded;
  for (auto a = from; a < to; ++a) min = std::min(min, shape[a].min > 0 ? shape[a].min : i64{1});
  return min;
}

/// The one integer that an input holds, where it is known.
std::optional<i64> known_integer(const Facts& facts, const Node& node, int port) {
  if (port >= std::ssize(node.inputs)) return std::nullopt;
  const auto& value = facts.of(node.inputs[port]).value;
  return value && value.size() == 1 ? std::optional(to_i64(value)[0]) : std::nullopt;
}

/// How many positions there are for the elements of an input that holds some; nothing where that is not known.
std::optional<i64> positions(const Facts& facts, const Node& node, const Indexes& indexes) {
  using Along = Indexes::Along;
  if (indexes.along == Along::nothing) return std::nullopt;
  if (indexes.along == Along::value) {
    const auto n = known_integer(facts, node, indexes.at);
    return n && *n > 0 ? n : std::nullopt;
  }
  const auto& data = facts.of(node.inputs[indexes.data]).shape;
  if (!data.has_rank() || data.rank() == 0) return std::nullopt;
  std::optional<i64> axis;
  if (indexes.along == Along::axis) axis = indexes.at;
  if (indexes.along == Along::attribute) axis = tools::integer_attribute(node, "axis");
  if (indexes.along == Along::input) axis = known_integer(facts, node, indexes.at);
  if (!axis) return min_length(data, 0, data.rank());  // whichever axis it is
  if (*axis < 0) *axis += data.rank();
  if (*axis < 0 || *axis >= data.rank()) return std::nullopt;
  return min_length(data, *axis, *axis + 1);
}

/// The elements of this input come out of output 0 unchanged, or converted.
bool carries(const Version& version, std::size_t port) {
  if (version.lift != Lift::moves || version.outputs.empty()) return false;
  const bool converts = version.inputs.size() == 1 && version.bounds != nullptr;
  return converts || tools::input_def(version, port).type.name == version.outputs.front().type.name;
}

/// The smallest limit of all the indexing that the value of `parameter` ends in.
std::optional<i64> index_limit(const Model& model, const Facts& facts, int parameter) {
  std::vector<bool> carried(model.nodes.size(), false);
  carried[parameter] = true;
  std::optional<i64> min;
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {  // in topological order: producers come first
    const auto& node = model.nodes[i];
    if (node.version->inputs.empty()) continue;
    for (std::size_t p = 0; p < node.inputs.size(); ++p) {
      if (!carried[node.inputs[p].node]) continue;
      if (carries(*node.version, p)) carried[i] = true;
      if (const auto n = positions(facts, node, tools::input_def(*node.version, p).indexes))
        min = std::min(min.value_or(*n), *n);
    }
  }
  return min;
}

}  // namespace

RandomInput random_input(const Model& model, const Facts& facts, int parameter, const Shape& shape,
                         std::uint64_t seed) {
  const auto node = model.parameters[parameter];
  const auto type = exchanged_type(model, facts.outputs[node].at(0).type, true);
  io::Generator generator;
  generator.a = {.real = 0, .whole = 0, .large = {}};
  if (type == ElementType::string) return {io::generate(generator, type, shape, seed), "empty texts"};
  if (is_mask(model, parameter)) {
    generator.a = {.real = 1, .whole = 1, .large = {}};
    return {io::generate(generator, type, shape, seed), "all 1"};
  }
  generator.kind = io::Generator::Kind::uniform;
  const i64 end = contains(kInteger, type)       ? index_limit(model, facts, node).value_or(2)
                  : type == ElementType::boolean ? 2
                                                 : 1;
  generator.b = {.real = static_cast<double>(end), .whole = end, .large = {}};
  return {io::generate(generator, type, shape, seed + static_cast<std::uint64_t>(parameter)),
          is_float(type) ? "random in [0, 1)" : fmt::format("random in 0..{}", end - 1)};
}

}  // namespace ovir::app
