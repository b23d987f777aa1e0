// Random nodes of every operation version: cases of the .spec files with something changed, or made from the tables
// alone; see trial.hpp for what must hold of them.
#include <algorithm>
#include <map>
#include <set>

#include "fuzz.hpp"
#include "ovir.hpp"
#include "trial.hpp"

using namespace ovir;
using namespace fuzz;

namespace {

ElementType some_type(TypeSet domain, Choices& choices) {
  constexpr ElementType kUsual[] = {ElementType::f32, ElementType::i64, ElementType::i32, ElementType::boolean};
  for (int i = 0; i < 40; ++i) {
    const auto type = choices.one_in(2) ? choices.pick(kUsual)
                                        : static_cast<ElementType>(choices.below(std::size_t{kElementTypeCount}));
    if (type != ElementType::dynamic && contains(domain, type)) return type;
  }
  for (int i = 0; i < kElementTypeCount; ++i)
    if (contains(domain, static_cast<ElementType>(i)) && static_cast<ElementType>(i) != ElementType::dynamic)
      return static_cast<ElementType>(i);
  return ElementType::f32;
}

i64 some_length(Choices& choices) {
  constexpr i64 kLengths[] = {0, 1, 1, 2, 2, 3, 3, 4, 5, 8, 17};
  return choices.pick(kLengths);
}

/// Element `def.kind`, as a text that may be meant.
std::string some_element(const AttributeDef& def, Choices& choices) {
  switch (def.kind) {
    case AttributeKind::boolean: return choices.one_in(2) ? "true" : "false";
    case AttributeKind::integer:
      if (choices.one_in(40)) return choices.one_in(2) ? "9223372036854775807" : "1000000";
      return std::to_string(static_cast<int>(choices.below(7)) - (choices.one_in(4) ? 3 : 0));
    case AttributeKind::number: return fmt::format("{}", static_cast<double>(choices.below(41)) / 8 - 1);
    case AttributeKind::text: return std::string(choices.below(3), 'x');
    case AttributeKind::element_type: return std::string(name(some_type(kAnyType, choices)));
    case AttributeKind::shape: return choices.one_in(2) ? "2,3" : "?,1..4";
    case AttributeKind::word: return def.words.empty() ? "" : std::string(choices.pick(def.words));
  }
  return "";
}

std::string some_attribute(const AttributeDef& def, std::size_t elements, Choices& choices) {
  if (!def.list) return some_element(def, choices);
  std::string text;
  for (std::size_t i = 0; i < elements; ++i) text += (i == 0 ? "" : ",") + some_element(def, choices);
  return text;
}

void set_attribute(Trial& n, const AttributeDef& def, Choices& choices) {
  const auto at =
      std::find_if(n.attributes.begin(), n.attributes.end(), [&](const auto& a) { return a.first == def.name; });
  if (at == n.attributes.end()) {
    n.attributes.emplace_back(def.name, some_attribute(def, choices.below(4), choices));
  } else if (def.presence != kRequired && choices.one_in(4)) {
    n.attributes.erase(at);
  } else {
    const auto elements = 1 + static_cast<std::size_t>(std::count(at->second.begin(), at->second.end(), ','));
    at->second = some_attribute(def, choices.one_in(8) ? choices.below(4) : elements, choices);
  }
}

/// The node of the tables alone: ports, types, attributes.
Trial of_tables(Choices& choices) {
  Trial n;
  do n.op = choices.pick(operations().ops);
  while (n.op->kind != Kind::compute || n.op->versions.empty());
  n.version = &choices.pick(n.op->versions);
  n.opset = n.version->since;
  std::map<std::string, ElementType> types;
  const auto usual_rank = choices.below(5);
  for (const auto& port : n.version->inputs) {
    if (port.arity == Arity::optional && choices.one_in(2)) break;
    const auto count = is_endless(port) ? choices.below(4) : 1;
    for (std::size_t i = 0; i < count; ++i) {
      const auto variable = variable_of(port, n.inputs.size());
      if (!types.contains(variable)) types[variable] = some_type(port.type.domain, choices);
      Input input{std::string(port.name), variable, port.type.domain, types[variable], {}, {}, false};
      const bool numbers = contains(kInteger, input.type) && !contains(kFloat, input.type) && n.inputs.size() > 0;
      const auto rank = numbers && !choices.one_in(3) ? choices.below(2)
                        : choices.one_in(3)           ? choices.below(6)
                                                      : usual_rank;
      for (std::size_t k = 0; k < rank; ++k) input.shape.push_back(some_length(choices));
      n.inputs.push_back(std::move(input));
    }
  }
  for (const auto& def : n.version->attrs.defs)
    if (def.presence == kRequired || choices.one_in(3))
      n.attributes.emplace_back(def.name, some_attribute(def, choices.one_in(2) ? 2 : choices.below(4), choices));
  n.outputs = static_cast<std::size_t>(std::count_if(n.version->outputs.begin(), n.version->outputs.end(),
                                                     [](const PortDef& p) { return p.arity == Arity::one; }));
  if (n.outputs == 0) n.outputs = 1 + choices.below(3);
  return n;
}

void change(Trial& n, Choices& choices) {
  switch (choices.below(6)) {
    case 0:
    case 1:
      if (!n.version->attrs.defs.empty()) set_attribute(n, choices.pick(n.version->attrs.defs), choices);
      break;
    case 2: {  // a length wherever it stands, or in one place
      if (n.inputs.empty()) break;
      auto& one = n.inputs[choices.below(n.inputs.size())];
      if (one.shape.empty()) break;
      const auto axis = static_cast<i64>(choices.below(one.shape.size()));
      const auto old = one.shape[axis], length = some_length(choices);
      if (choices.one_in(2)) {
        one.shape[axis] = length;
      } else {
        for (auto& input : n.inputs) std::replace(input.shape.begin(), input.shape.end(), old, length);
      }
      break;
    }
    case 3: {  // a type variable
      if (n.inputs.empty()) break;
      const auto& of = n.inputs[choices.below(n.inputs.size())];
      const auto variable = of.variable;
      const auto type = some_type(of.domain, choices);
      for (auto& input : n.inputs)
        if (input.variable == variable) input.type = type;
      break;
    }
    case 4: {  // an axis more or less
      if (n.inputs.empty()) break;
      auto& shape = n.inputs[choices.below(n.inputs.size())].shape;
      if (choices.one_in(2) || shape.empty()) shape.insert(shape.begin(), choices.one_in(2) ? 1 : some_length(choices));
      else shape = Shape(shape.begin() + 1, shape.end());
      break;
    }
    default:  // other values
      if (!n.inputs.empty()) n.inputs[choices.below(n.inputs.size())].value = Tensor();
  }
}

/// How many nodes were made and run, by operation version: what the driver's figures stand for.
struct Statistics {
  std::size_t made = 0, run = 0;
  std::set<const Version*> versions;
  ~Statistics() {
    fmt::print("{} nodes, {} runs of valid ones, {} operation versions among them\n", made, run, versions.size());
  }
};

}  // namespace

void fuzz_one(std::string_view bytes) {
  static Statistics statistics;
  Choices choices(bytes);
  Trial node = choices.one_in(4) ? of_tables(choices) : trial_of(choices.pick(cases()));
  for (auto changes = choices.below(4); changes > 0; --changes) change(node, choices);
  ++statistics.made;
  const auto runs = judge(node, choices);
  statistics.run += runs;
  if (runs > 0) statistics.versions.insert(node.version);
}
