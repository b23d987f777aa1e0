#include "random_input.hpp"

#include <algorithm>
#include <optional>

#include "io/generate.hpp"
#include "names.hpp"

namespace ovir::app {
namespace {

/// An operation that indexes port `data` by the values at port `indices`.
struct IndexUser {
  std::string_view type;
  int indices, data;
  enum class Axis {
    from_port,
    from_attribute,
    first,
    leading
  } axis;  ///< leading: indices hold tuples into the first axes
  int axis_port = 0;
};
constexpr IndexUser kIndexUsers[] = {
    {"Gather", 1, 0, IndexUser::Axis::from_port, 2},
    {"GatherElements", 1, 0, IndexUser::Axis::from_attribute},
    {"GatherND", 1, 0, IndexUser::Axis::leading},
    {"ScatterUpdate", 1, 0, IndexUser::Axis::from_port, 3},
    {"ScatterElementsUpdate", 1, 0, IndexUser::Axis::from_port, 3},
    {"ScatterNDUpdate", 1, 0, IndexUser::Axis::leading},
    {"EmbeddingBagOffsetsSum", 1, 0, IndexUser::Axis::first},
    {"EmbeddingBagOffsets", 1, 0, IndexUser::Axis::first},
    {"EmbeddingBagPackedSum", 1, 0, IndexUser::Axis::first},
    {"EmbeddingBagPacked", 1, 0, IndexUser::Axis::first},
    {"EmbeddingSegmentsSum", 1, 0, IndexUser::Axis::first},
};
/// Operations whose first output holds values of their first input.
constexpr std::string_view kMovers[] = {"Convert", "Reshape", "Squeeze",       "Unsqueeze", "Transpose", "StridedSlice",
                                        "Slice",   "Split",   "VariadicSplit", "Tile",      "Broadcast", "Pad"};

std::int64_t least_length(const PartialShape& shape, std::int64_t from, std::int64_t to) {
  std::int64_t least = Dim::kUnbounded;
  for (auto a = from; a < to; ++a) least = std::min(least, shape[a].min > 0 ? shape[a].min : std::int64_t{1});
  return least;
}

/// How many values the index at `user` may take; nothing where that is not known.
std::optional<std::int64_t> limit(const Facts& facts, const Node& node, const IndexUser& user) {
  const auto& data = facts.of(node.inputs[static_cast<std::size_t>(user.data)]).shape;
  if (!data.has_rank() || data.rank() == 0) return std::nullopt;
  std::int64_t axis = 0;
  if (user.axis == IndexUser::Axis::from_port) {
    const auto& known = facts.of(node.inputs.at(static_cast<std::size_t>(user.axis_port))).value;
    if (!known || known.size() != 1) return least_length(data, 0, data.rank());
    axis = to_i64(known)[0];
  } else if (user.axis == IndexUser::Axis::from_attribute) {
    const auto* const attribute = node.layer->attribute("axis");
    axis = attribute ? parse_number<std::int64_t>(attribute->value).value_or(0) : 0;
  } else if (user.axis == IndexUser::Axis::leading) {
    return least_length(data, 0, data.rank());
  }
  if (axis < 0) axis += data.rank();
  if (axis < 0 || axis >= data.rank()) return std::nullopt;
  return least_length(data, axis, axis + 1);
}

/// The smallest limit of all the indexing that the value at `from` ends in.
std::optional<std::int64_t> index_limit(const Model& model, const Facts& facts, int parameter) {
  std::vector<bool> carries(model.nodes.size(), false);
  carries[static_cast<std::size_t>(parameter)] = true;
  std::optional<std::int64_t> least;
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {  // in topological order: producers come first
    const auto& node = model.nodes[i];
    for (std::size_t p = 0; p < node.inputs.size(); ++p) {
      if (!carries[static_cast<std::size_t>(node.inputs[p].node)]) continue;
      const bool mover = std::find(std::begin(kMovers), std::end(kMovers), node.op->type) != std::end(kMovers);
      if ((mover && p == 0) || node.op->type == "Concat") carries[i] = true;
      for (const auto& user : kIndexUsers) {
        if (user.type != node.op->type || user.indices != static_cast<int>(p)) continue;
        if (const auto n = limit(facts, node, user)) least = std::min(least.value_or(*n), *n);
      }
    }
  }
  return least;
}

}  // namespace

RandomInput random_input(const Model& model, const Facts& facts, int parameter, const Shape& shape,
                         std::uint64_t seed) {
  const auto node = model.parameters[static_cast<std::size_t>(parameter)];
  const auto type = facts.outputs[static_cast<std::size_t>(node)].at(0).type;
  io::Generator generator;
  if (type == ElementType::string) return {io::generate(generator, type, shape, seed), "empty texts"};
  if (is_mask(model, parameter)) {
    generator.a = {.real = 1, .whole = 1, .large = {}};
    return {io::generate(generator, type, shape, seed), "all 1"};
  }
  generator.kind = io::Generator::Kind::uniform;
  const std::int64_t end = contains(kInteger, type)       ? index_limit(model, facts, node).value_or(2)
                           : type == ElementType::boolean ? 2
                                                          : 1;
  generator.a = {.real = 0, .whole = 0, .large = {}};
  generator.b = {.real = static_cast<double>(end), .whole = end, .large = {}};
  return {io::generate(generator, type, shape, seed + static_cast<std::uint64_t>(parameter)),
          contains(kFloat | kNarrowFloat, type) ? "random in [0, 1)" : fmt::format("random in 0..{}", end - 1)};
}

}  // namespace ovir::app
