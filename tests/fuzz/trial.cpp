#include "trial.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "agree.hpp"
#include "base/checked.hpp"
#include "fuzz.hpp"
#include "harness/bound.hpp"
#include "harness/graph_text.hpp"
#include "harness/model_text.hpp"
#include "harness/values.hpp"
#include "ovir.hpp"
#include "scratch.hpp"

using namespace ovir;

namespace fuzz {
namespace {

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
        filled(input.type, input.shape, special ? Fill::special : static_cast<Fill>(choices.below(4)), choices);
  }
  for (const auto& input : n.inputs)
    if (contains(kFloat, input.type))
      for (const auto v : to_f64(input.value)) ordinary &= std::isfinite(v) && std::abs(v) < 1e6;
  return ordinary;
}

/// Of all inputs; at most 1 << 20.
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

bool has_empty(const Outcome& o) {
  return std::ranges::any_of(o.results, [](const Tensor& t) { return t.shape().count() == 0; });
}

/// Whether a body did not run once: a Loop's trip count or first condition says so, or it gave nothing, and the other
/// dims of what it would have given are those that inference knew, open ones 0. What is wrong with the body is known to
/// the check alone.
bool no_iteration(const Trial& n, const Outcome& a, const Outcome& b) {
  if (n.op->bodies.empty() || !n.op->bodies[0].iterates) return false;
  const auto ends = [&](std::size_t i) { return n.inputs[i].value.size() == 1 && to_i64(n.inputs[i].value)[0] == 0; };
  const bool none = n.op->type == "Loop" && n.inputs.size() > 1 && (ends(0) || ends(1));
  return (a.code || has_empty(a)) && (none || has_empty(b));
}

}  // namespace

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

std::string variable_of(const PortDef& def, std::size_t position) {
  return def.arity == Arity::mixed ? fmt::format("{}#{}", def.type.name, position) : std::string(def.type.name);
}

Trial trial_of(const Case& c) {
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

std::size_t judge(Trial& node, Choices& choices) {
  if (elements_of(node) > 1 << 14) return 0;
  const bool ordinary = fill(node, choices);
  std::size_t runs = 0;
  std::vector<Reach> reach;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) reach.push_back(static_cast<Reach>(choices.below(4)));
  const std::vector<std::vector<Reach>> reaches{std::vector(node.inputs.size(), Reach::fixed), reach,
                                                std::vector(node.inputs.size(), Reach::constant)};
  std::optional<Outcome> first;
  std::string first_way;
  for (const auto& how : reaches) {
    const auto made = make(node, how);
    if (!made) continue;
    const auto name_of = [&](std::string_view way) {
      return fmt::format("{}, {}", way, how == reaches.front() ? "fixed" : how == reaches[1] ? "open" : "constant");
    };
    if (made->refused) {
      // What inference demands of shapes is demanded when they are found later, and with the same code. Values are
      // another matter: those that nobody asks for are refused only where they are known.
      if (how == reaches.front()) {
        first = Outcome{{}, made->refused->code, made->refused->message};
        first_way = name_of("check");
      }
      continue;
    }
    for (const auto& way : testing::kWays) {
      Outcome o;
      try {
        o = outcome(made->model, made->facts, way, way.expected_runs > 1, made->given);
      } catch (const std::exception& error) {
        broken(fmt::format("only a Failure comes out of a run, not \"{}\": {}\n{}", error.what(), name_of(way.name),
                           described(node)));
      }
      if (o.cut) return runs;
      // Where inference had to rely on what the data then do not keep (an axis of Squeeze), the run says so.
      if (how == reaches[1] && o.code == Code::E0506 && o.message.find("as inferred") != std::string::npos) continue;
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
      if (!o.code) ++runs;
      if (!first) {
        first = std::move(o);
        first_way = label;
        continue;
      }
      if (const auto wrong = difference(*first, o, ordinary && node.version->pure);
          !wrong.empty() && !no_iteration(node, *first, o))
        broken(fmt::format("all ways end alike: {}; {}: {}\n{}", first_way, label, wrong, described(node)));
    }
  }
  return runs;
}

}  // namespace fuzz
