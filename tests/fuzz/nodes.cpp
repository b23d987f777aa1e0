// Random nodes of every operation version: cases of the .spec files with something changed, or made from the tables
// alone. A node that the check accepts runs, or ends with a Failure, alike in every way to run; the inferred type and
// shape hold the actual ones; and what inference computes from constants is what a run computes.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "agree.hpp"
#include "base/checked.hpp"
#include "fuzz.hpp"
#include "harness/bound.hpp"
#include "harness/graph_text.hpp"
#include "harness/model_text.hpp"
#include "harness/values.hpp"
#include "scratch.hpp"
#include "values.hpp"

using namespace ovir;

namespace {

using fuzz::Choices;
using fuzz::Fill;

/// An operation's case of a .spec file: a node that is valid.
struct Case {
  const OpDef* op;
  int opset;
  const Version* version;
  const spec::Item* item;
};

const std::vector<spec::SpecFile>& spec_files() {
  static const auto files = [] {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(OVIR_SPECS))
      if (entry.path().extension() == ".spec") paths.push_back(entry.path().string());
    std::sort(paths.begin(), paths.end());
    std::vector<spec::SpecFile> list;
    for (const auto& path : paths) list.push_back(spec::parse_spec(path));
    return list;
  }();
  return files;
}

const std::vector<Case>& cases() {
  static const auto list = [] {
    std::vector<Case> all;
    for (const auto& file : spec_files())
      for (const auto& section : file.sections)
        for (const auto& [type, opset] : section.ops)
          for (const auto& item : section.items) {
            const auto* op = operations().find(type);
            if (item.kind == spec::ItemKind::values && op && version_in(*op, opset))
              all.push_back({op, opset, version_in(*op, opset), &item});
          }
    return all;
  }();
  return list;
}

struct Input {
  std::string name;
  std::string variable;  // inputs of one type variable change type together
  TypeSet domain{};
  ElementType type{};
  Shape shape;
  Tensor value;  // once it is made
  bool constant = false;
};

struct Trial {
  const OpDef* op = nullptr;
  const Version* version = nullptr;
  int opset = 1;
  spec::AttributeTexts attributes;
  std::vector<Input> inputs;
  std::vector<spec::BodyText> bodies;
  std::size_t outputs = 1;
};

std::string variable_of(const PortDef& def, std::size_t position) {
  return def.arity == Arity::mixed ? fmt::format("{}#{}", def.type.name, position) : std::string(def.type.name);
}

Trial of_case(const Case& c) {
  Trial n{c.op, c.version, c.opset, c.item->attributes, {}, c.item->bodies, 1};
  const auto bound = spec::bind(*c.item, *c.version);
  n.outputs = bound.outputs.size();
  for (const auto& p : bound.inputs) {
    Input input{p.def->name.data(),
                variable_of(*p.def, n.inputs.size()),
                p.def->type.domain,
                p.text->type,
                p.text->shape.to_shape(),
                {},
                false};
    if (p.text->has_values)
      input.value = spec::make_tensor(input.type, input.shape, spec::expand(*p.text, input.shape));
    const auto& constants = c.item->constants;
    input.constant = std::find(constants.begin(), constants.end(), p.text->name) != constants.end();
    n.inputs.push_back(std::move(input));
  }
  return n;
}

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

/// A value for every input: its own where that still fits. True where sums of them can be compared.
bool fill(Trial& n, Choices& choices) {
  bool ordinary = true;
  for (auto& input : n.inputs) {
    if (input.value && input.value.shape() == input.shape) {
      if (input.value.type() == input.type) continue;
      if (input.type != ElementType::string && input.value.type() != ElementType::string) {
        input.value = convert(input.value, input.type);
        continue;
      }
    }
    const bool special = choices.one_in(12);
    ordinary &= !special;
    input.value =
        fuzz::filled(input.type, input.shape, special ? Fill::special : static_cast<Fill>(choices.below(4)), choices);
  }
  for (const auto& input : n.inputs)
    if (contains(kFloat, input.type))
      for (const auto v : to_f64(input.value)) ordinary &= std::isfinite(v) && std::abs(v) < 1e6;
  return ordinary;
}

i64 elements_of(const Trial& n) {
  i64 total = 0;
  for (const auto& input : n.inputs) {
    const auto count = checked_product(input.shape);
    if (!count || *count > 1 << 20) return 1 << 20;
    total += *count;
  }
  return total;
}

std::string described(const Trial& n) {
  std::string text = fmt::format("{}-{}", n.op->type, n.opset);
  for (const auto& [name, value] : n.attributes) text += fmt::format(" {}=\"{}\"", name, value);
  for (const auto& i : n.inputs)
    text += fmt::format("\n  {} {}{}{}", i.name, name(i.type), to_string(i.shape), i.constant ? " constant" : "");
  return text;
}

/// How each input reaches the node.
enum class Reach { fixed, dims_open, rank_open, constant };

struct Made {
  std::shared_ptr<const Model> model;
  Facts facts;
  std::vector<Tensor> given;
  std::optional<Diagnostic> refused;  // by inference
};

std::optional<Made> make(const Trial& n, const std::vector<Reach>& reach) {
  std::vector<spec::Source> sources;
  Made made;
  for (std::size_t i = 0; i < n.inputs.size(); ++i) {
    const auto& input = n.inputs[i];
    spec::Source s{fmt::format("in{}", i), input.type, PartialShape(input.shape), {}, {}};
    if (reach[i] == Reach::constant || input.constant) s.constant = input.value;
    else made.given.push_back(input.value);
    if (reach[i] == Reach::dims_open) s.shape = PartialShape::of_rank(static_cast<i64>(input.shape.size()));
    if (reach[i] == Reach::rank_open) s.shape = PartialShape::unknown_rank();
    sources.push_back(std::move(s));
  }
  spec::ModelText text;
  try {
    text = spec::model_text({std::string(n.op->type), n.opset, n.attributes, std::move(sources),
                             std::vector(n.outputs, ElementType::dynamic), n.bodies});
  } catch (const std::runtime_error&) {
    return std::nullopt;  // a body that no longer fits its node
  }
  static MemoryFile weights;
  weights.fill(text.bin);
  Diagnostics diagnostics;
  made.model = load(model_file(text.xml), {.weights = weights.path()}, diagnostics);
  promise(made.model != nullptr, "a node is well-formed XML");
  if (!made.model->complete) return std::nullopt;
  made.facts = infer(*made.model, {}, diagnostics);
  for (const auto& d : diagnostics.all())
    if (d.severity == Severity::error && !made.refused) made.refused = d;
  for (const auto& node : made.facts.outputs)
    for (const auto& fact : node)
      for (double count = 1; const auto& dim : fact.shape)
        if ((count *= static_cast<double>(dim.min)) > 1 << 20) return std::nullopt;
  return made;
}

/// How many nodes were accepted and run, by operation version: what the driver's figures stand for.
struct Statistics {
  std::size_t made = 0, run = 0;
  std::set<const Version*> versions;
  ~Statistics() {
    fmt::print("{} nodes, {} runs of valid ones, {} operation versions among them\n", made, run, versions.size());
  }
};

/// Whether a body that did not run once gave nothing in both ways: the other dims of what it would have given are those
/// that inference knew, open ones 0.
bool no_iteration(const OpDef& op, const fuzz::Outcome& a, const fuzz::Outcome& b) {
  const auto empty = [](const fuzz::Outcome& o) {
    return std::ranges::any_of(o.results, [](const Tensor& t) { return t.shape().count() == 0; });
  };
  return !op.bodies.empty() && op.bodies[0].iterates && empty(a) && empty(b);
}

}  // namespace

void fuzz_one(std::string_view bytes) {
  static Statistics statistics;
  Choices choices(bytes);
  Trial node = choices.one_in(4) ? of_tables(choices) : of_case(choices.pick(cases()));
  for (auto changes = choices.below(4); changes > 0; --changes) change(node, choices);
  if (elements_of(node) > 1 << 14) return;
  const bool ordinary = fill(node, choices);
  ++statistics.made;

  std::vector<Reach> reach;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) reach.push_back(static_cast<Reach>(choices.below(4)));
  const std::vector<std::vector<Reach>> reaches{std::vector(node.inputs.size(), Reach::fixed), reach,
                                                std::vector(node.inputs.size(), Reach::constant)};
  std::optional<fuzz::Outcome> first;
  std::string first_way;
  for (const auto& how : reaches) {
    const auto made = make(node, how);
    if (!made) continue;
    const auto name_of = [&](std::string_view way) {
      return fmt::format("{}, {}", way, how == reaches[0] ? "fixed" : how == reach ? "open" : "constant");
    };
    if (made->refused) {
      // What inference demands of shapes is demanded when they are found later, and with the same code. Values are
      // another matter: those that nobody asks for are refused only where they are known.
      if (how == reaches[0]) {
        first = fuzz::Outcome{{}, made->refused->code, made->refused->message};
        first_way = name_of("check");
      }
      continue;
    }
    for (const auto& way : testing::kWays) {
      fuzz::Outcome o;
      try {
        o = fuzz::outcome(made->model, made->facts, way, way.expected_runs > 1, made->given);
      } catch (const std::exception& error) {
        broken(fmt::format("only a Failure comes out of a run, not \"{}\": {}\n{}", error.what(), name_of(way.name),
                           described(node)));
      }
      if (o.cut) return;
      // Where inference had to rely on what the data then do not keep (an axis of Squeeze), the run says so.
      if (how == reach && o.code == Code::E0506 && o.message.find("as inferred") != std::string::npos) continue;
      // A constant condition leaves one body of an If; the other one is not judged.
      const bool chosen = node.op->bodies.size() > 1 && how[0] == Reach::constant;
      if (chosen && first && first->code) continue;
      const auto label = name_of(way.name);
      for (std::size_t k = 0; k < o.results.size(); ++k) {
        const auto& fact = made->facts.of((*made->model)[made->model->results[k]].inputs.at(0));
        const auto& got = o.results[k];
        if (!fact.shape.contains(got.shape()) || (fact.type != ElementType::dynamic && fact.type != got.type()))
          broken(fmt::format("the inferred fact holds the actual value: output {} is {}{}, inferred {}{} ({})\n{}", k,
                             name(got.type()), to_string(got.shape()), name(fact.type), to_string(fact.shape), label,
                             described(node)));
      }
      if (!o.code) {
        ++statistics.run;
        statistics.versions.insert(node.version);
      }
      if (!first) {
        first = std::move(o);
        first_way = label;
        continue;
      }
      if (const auto wrong = fuzz::difference(*first, o, ordinary && node.version->pure);
          !wrong.empty() && !no_iteration(*node.op, *first, o))
        broken(fmt::format("all ways end alike: {}; {}: {}\n{}", first_way, label, wrong, described(node)));
    }
  }
}
