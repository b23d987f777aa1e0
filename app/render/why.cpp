#include "render/why.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "cli.hpp"
#include "tools/select.hpp"

namespace ovir::app {
namespace {

/// One axis of one output; axis < 0: an element of a value that is a length.
struct Spot {
  ValueRef at;
  std::int64_t axis = 0;
  bool element = false;
};

std::string layer_text(const Node& node) { return fmt::format("\"{}\" ({})", printable(node.layer->name), printable(node.layer->type)); }

bool same(const Dim& a, const Dim& b) { return a.symbol != 0 || b.symbol != 0 ? a.symbol == b.symbol : a == b && (a.is_static() || a.is_bounded()); }

class Tracer {
 public:
  Tracer(const Model& m, const Facts& f) : model(m), facts(f) {}

  Dim length(const Spot& s) const {
    const auto& fact = facts.of(s.at);
    if (!s.element) return fact.shape[s.axis];
    const auto i = static_cast<std::size_t>(s.axis);
    if (fact.value) return Dim(to_i64(fact.value.unpacked())[i]);
    return (*fact.bounds)[i].to_dim();
  }

  /// The place before `s`: an axis of an input, or an element of an input's value, that is the same length. A symbol is
  /// proof; of equal lengths the same axis is likelier than another, counted from the front or from the back.
  std::optional<Spot> before(const Spot& s) const {
    const auto& node = model[s.at.node];
    const auto wanted = length(s);
    std::optional<Spot> best;
    int best_rank = 0;
    const auto offer = [&](const Spot& candidate, int rank) {
      if (same(length(candidate), wanted) && rank > best_rank) best = candidate, best_rank = rank;
    };
    const auto rank_here = s.element ? 0 : facts.of(s.at).shape.rank();
    for (const auto& input : node.inputs) {
      if (input.node < 0) continue;
      const auto& fact = facts.of(input);
      const auto elements = small_value(fact);
      for (std::int64_t i = 0; i < elements; ++i) offer({input, i, true}, i == s.axis ? 3 : 1);
      if (!fact.shape.has_rank()) continue;
      for (std::int64_t a = 0; a < fact.shape.rank(); ++a) offer({input, a, false}, a == s.axis ? 5 : rank_here - s.axis == fact.shape.rank() - a ? 4 : 2);
    }
    return best;
  }

  std::string describe(const Spot& s) const {
    const auto& fact = facts.of(s.at);
    const auto& node = model[s.at.node];
    if (s.element) return fmt::format("{} of {}", fact.value && fact.value.rank() == 0 ? std::string("the value") : fmt::format("element {}", s.axis), layer_text(node));
    return fmt::format("axis {} of {}{} {}{}", s.axis, layer_text(node), node.output_count > 1 ? fmt::format(" output {}", s.at.port) : "", name(fact.type), to_string(fact.shape));
  }

 private:
  const Model& model;
  const Facts& facts;

  /// How many lengths an integer value may be; 0 where it is none.
  static std::int64_t small_value(const Fact& f) {
    if (!contains(kInteger, f.type)) return 0;
    if (f.value) return f.value.rank() <= 1 && f.value.size() <= 16 ? f.value.size() : 0;
    return f.bounds && f.bounds->size() <= 16 ? static_cast<std::int64_t>(f.bounds->size()) : 0;
  }
};

struct Target {
  int node = 0, port = 0;
  std::optional<std::int64_t> axis;
};

/// A layer's name may hold colons itself: the whole text is tried first.
Target parse(const Model& model, const std::string& text) {
  const auto find = [&](std::string_view name) {
    for (std::size_t i = 0; i < model.nodes.size(); ++i)
      if (model.nodes[i].layer->name == name) return static_cast<int>(i);
    return -1;
  };
  std::string_view name = text;
  std::vector<std::int64_t> numbers;
  while (find(name) < 0 && numbers.size() < 2) {
    const auto colon = name.rfind(':');
    const auto number = colon == name.npos ? std::nullopt : parse_number<std::int64_t>(name.substr(colon + 1));
    if (!number) break;
    numbers.insert(numbers.begin(), *number);
    name = name.substr(0, colon);
  }
  Target target{find(name), numbers.empty() ? 0 : static_cast<int>(numbers[0]), {}};
  if (target.node < 0) throw UsageError(fmt::format("--why: there is no layer \"{}\"; expected LAYER[:port[:axis]]", printable(name)));
  if (numbers.size() == 2) target.axis = numbers[1];
  return target;
}

}  // namespace

std::string why(const Model& model, const Facts& facts, const std::string& text) {
  const auto target = parse(model, text);
  const auto& outputs = facts.outputs[static_cast<std::size_t>(target.node)];
  const auto& node = model[target.node];
  if (target.port < 0 || target.port >= static_cast<int>(outputs.size())) throw UsageError(fmt::format("--why: {} has no output {}; it has {}", layer_text(node), target.port, outputs.size()));
  const auto& shape = outputs[static_cast<std::size_t>(target.port)].shape;
  if (!shape.has_rank()) return fmt::format("{} has an unknown rank\n", layer_text(node));
  if (target.axis && (*target.axis < 0 || *target.axis >= shape.rank())) throw UsageError(fmt::format("--why: {} has no axis {}; its shape is {}", layer_text(node), *target.axis, to_string(shape)));

  const Tracer tracer(model, facts);
  std::string out = fmt::format("{} {}{}\n", layer_text(node), name(outputs[static_cast<std::size_t>(target.port)].type), to_string(shape));
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (target.axis && axis != *target.axis) continue;
    Spot spot{{target.node, target.port}, axis, false};
    out += fmt::format("  axis {}: {}", axis, to_string(shape[axis]));
    std::string steps;
    while (const auto previous = tracer.before(spot)) {
      spot = *previous;
      steps += fmt::format("\n    {}", tracer.describe(spot));
    }
    if (spot.at.node == target.node) out += ", which this layer makes\n";
    else out += target.axis ? ":" + steps + "\n" : fmt::format(", from {}\n", tracer.describe(spot));
  }
  return out;
}

}  // namespace ovir::app
