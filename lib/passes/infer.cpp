// infer: element type, shape and small values of every output, compared with what the file declares.
#include <algorithm>
#include <deque>
#include <map>

#include "model/explain.hpp"
#include "model/report.hpp"
#include "op/infer_context.hpp"
#include "op/shared_attrs.hpp"
#include "passes/attributes.hpp"
#include "passes/declared.hpp"
#include "passes/foreign_weights.hpp"
#include "passes/passes.hpp"
#include "passes/states.hpp"
#include "passes/unused.hpp"

namespace ovir::passes {
namespace {

/// What came of inferring a body for certain facts of its parameters.
struct Outcome {
  Facts facts;
  Diagnostics diagnostics;
};

/// What a model and the bodies within it share while they are inferred.
struct Shared {
  /// Bodies are inferred in rounds, and those of nested loops in rounds of rounds. What is kept of a body saves most of
  /// them; beyond so many inferences a layer, rounds are cut short by giving up what is fed back.
  static constexpr i64 kRoundsOfALayer = 64;
  static constexpr std::size_t kKept = 4;
  struct Known {
    std::vector<Fact> parameters;
    std::shared_ptr<const Outcome> outcome;
  };

  explicit Shared(const Model& model) : budget(kRoundsOfALayer * (count_layers(model) - model.nodes.size())) {}

  std::uint32_t symbols = 0;
  i64 inferred = 0;  ///< layers, each as often as it was
  i64 budget;        ///< layers of bodies to infer before rounds are cut short
  std::map<const Model*, std::deque<Known>> bodies;
};

bool same(const std::vector<Fact>& a, const std::vector<Fact>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Fact& x, const Fact& y) { return same(x, y); });
}

/// What one version refuses another may take: the file may name the wrong operation set.
void suggest(Diagnostic& d, const Node& node) {
  constexpr Code about_versions[] = {Code::E0403, Code::E0501, Code::E0502, Code::E0503, Code::E0504, Code::E0507};
  if (std::find(std::begin(about_versions), std::end(about_versions), d.code) == std::end(about_versions)) return;
  // A type that is none of those allowed: an output port has the one that was meant.
  const auto is_type = [&](const AttributeDef& def) {
    return def.name == d.attribute && def.kind == AttributeKind::element_type;
  };
  if (std::any_of(node.version->attrs.defs.begin(), node.version->attrs.defs.end(), is_type))
    for (const auto& port : node.layer->outputs)
      if (port.declared_type)
        d.remedies.push_back({{Change::What::attribute, d.attribute, std::string(name(*port.declared_type))}});
  for (const auto& version : node.op->versions)
    if (&version != node.version && keeps_attributes(*node.layer, *node.version, version))
      d.remedies.push_back({{Change::What::layer_attribute, "version", fmt::format("opset{}", version.since)}});
}

class Inferrer {
 public:
  Inferrer(const Model& m, const InferOptions& o, Diagnostics& d, Shared& s)
      : model(m), options(o), diagnostics(d), shared(s) {}

  Facts facts;

  /// `received`: the facts of the Parameters, where this is a body.
  void run(const std::vector<Fact>* received) {
    facts.outputs.resize(model.nodes.size());
    facts.bodies.resize(model.nodes.size());
    facts.unknown.assign(model.nodes.size(), false);
    const auto used = used_nodes(model);
    std::vector<int> parameter_of(model.nodes.size(), -1);
    for (int k = 0; k < std::ssize(model.parameters); ++k) parameter_of[model.parameters[k]] = k;
    for (std::size_t i = 0; i < model.nodes.size(); ++i) {
      const auto& node = model.nodes[i];
      auto& outputs = facts.outputs[i];
      outputs = declared_outputs(node);
      const auto k = parameter_of[i];
      if (node.faulty) {
        forget(i);
      } else if (received && k >= 0 && !outputs.empty()) {
        outputs[0] = (*received)[k];
        if (compares()) declared_check_.compare(node, facts, outputs, true);
      } else if (depends_on_unknown(node)) {
        if (used[i]) ++diagnostics.dependents;
        forget(i);
      } else if (used[i]) {
        infer_one(i, k, diagnostics);
      } else {
        Diagnostics found;
        infer_one(i, k, found);
        add_as_unused(found, diagnostics);
      }
      if (options.stop_at_fault && facts.unknown[i] && used[i]) {
        facts.outputs.resize(i + 1);
        return;
      }
    }
    if (options.states.empty()) check_assigned(model, facts, diagnostics);  // a state may change its shape
  }

 private:
  /// The last round of a body's inference.
  struct Round {
    std::vector<Fact> parameters;
    bool asked = false;
    std::shared_ptr<const Outcome> outcome;  ///< null: cut short
    bool failed() const { return outcome && outcome->diagnostics.errors() > 0; }
  };

  const Model& model;
  const InferOptions& options;
  Diagnostics& diagnostics;
  Shared& shared;
  std::optional<LineIndex> lines_;
  DeclaredCheck declared_check_{model, diagnostics};

  bool compares() const { return options.compare_declared && options.shapes.empty() && options.states.empty(); }

  void forget(std::size_t node) {
    facts.unknown[node] = true;
    facts.outputs[node].assign(facts.outputs[node].size(), Fact{});
  }

  bool depends_on_unknown(const Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueRef v) { return v.node < 0 || facts.unknown[v.node]; });
  }

  void infer_one(std::size_t index, int parameter, Diagnostics& found) {
    ++shared.inferred;
    const auto& node = model.nodes[index];
    std::vector<Fact> inputs;
    for (const auto& v : node.inputs) inputs.push_back(facts.of(v));
    const auto declared = std::move(facts.outputs[index]);
    // A Result or an Assign has no output port in most files, yet one fact: what it receives.
    const int outputs = node.ends() ? std::max(1, node.output_count) : node.output_count;

    InferContext c(*node.op, *node.version, node.attrs.get(), inputs, outputs);
    c.set_symbols(&shared.symbols);
    c.set_declared(declared);
    std::vector<Round> rounds(node.bodies.size());
    c.set_bodies(node.maps, [&](int body, const std::vector<Fact>& parameters) {
      return infer_body(*node.bodies[body], rounds[body], parameters);
    });
    bool good = attempt(found, model, *node.layer, [&] {
      try {
        infer_node(c);
      } catch (Failure& failure) {
        explain(failure.diagnostic, model, node, inputs, &lines_);
        suggest(failure.diagnostic, node);
        throw;
      }
    });
    good &= judge_bodies(index, rounds, found);
    facts.outputs[index] = std::move(c.outputs());
    if (!good) return forget(index);
    auto& result = facts.outputs[index];
    if (node.op->kind == Kind::constant && !result.empty()) result[0].value = node.constant;
    if (parameter >= 0 && !result.empty()) finish_parameter(parameter, result[0]);
    if (node.op->kind == Kind::read_value && !result.empty())
      if (const auto held = options.states.find(node.as<VariableAttrs>().variable_id); held != options.states.end())
        result[0].shape = held->second;
    if (compares()) declared_check_.compare(node, facts, result, false);
  }

  void finish_parameter(int k, Fact& fact) {
    if (const auto given = options.shapes.find(k); given != options.shapes.end()) fact.shape = given->second;
    if (!fact.shape.has_rank()) return;
    for (auto& d : fact.shape.dims())
      if (!d.is_static() && d.symbol == 0) d.symbol = ++shared.symbols;
  }

  /// One round: what the body gives for these parameters. Nothing is known of it after a fault, which ends the rounds,
  /// or where they are cut short.
  std::vector<Fact> infer_body(const Model& inner, Round& round, const std::vector<Fact>& parameters) {
    std::vector<Fact> results(inner.results.size());
    if (round.failed()) return results;
    round.asked = true;
    round.parameters = parameters;
    round.outcome = shared.budget > 0 ? outcome_of(inner, parameters) : nullptr;
    if (!round.outcome || round.failed()) return results;
    for (std::size_t k = 0; k < results.size(); ++k)
      if (const auto& given = round.outcome->facts.outputs[inner.results[k]]; !given.empty()) results[k] = given[0];
    return results;
  }

  std::shared_ptr<const Outcome> outcome_of(const Model& inner, const std::vector<Fact>& parameters) {
    auto& known = shared.bodies[&inner];
    for (const auto& k : known)
      if (same(k.parameters, parameters)) return k.outcome;
    auto body_options = options;
    body_options.shapes.clear();
    body_options.compare_declared = compares();
    auto outcome = std::make_shared<Outcome>();
    shared.budget -= std::ssize(inner.nodes);
    Inferrer nested(inner, body_options, outcome->diagnostics, shared);
    nested.run(&parameters);
    outcome->facts = std::move(nested.facts);
    known.push_front({parameters, outcome});
    if (known.size() > Shared::kKept) known.pop_back();
    return outcome;
  }

  /// Of the rounds of a body only the last counts, whose facts hold in every iteration: its diagnostics are given.
  /// False where there are faults in a body.
  bool judge_bodies(std::size_t index, std::vector<Round>& rounds, Diagnostics& found) {
    const auto& node = model.nodes[index];
    facts.bodies[index].resize(rounds.size());
    bool good = true;
    for (std::size_t b = 0; b < rounds.size(); ++b) {
      auto& round = rounds[b];
      const auto& inner = *node.bodies[b];
      if (!round.asked) continue;
      // Rounds that were cut short end with parameters of which nothing is known: those, too, hold in every iteration.
      if (!round.outcome) round.outcome = outcome_of(inner, round.parameters);
      for (auto d : round.outcome->diagnostics.all()) {
        if (d.severity == Severity::error) explain_body(d, model, node, node.maps[b], inner);
        found.add(std::move(d));
      }
      found.dependents += round.outcome->diagnostics.dependents;
      if (round.failed() || !inner.complete) good = false;
      else facts.bodies[index][b] = round.outcome->facts;
    }
    return good;
  }
};

}  // namespace

Facts infer(const Model& model, const InferOptions& options, Diagnostics& diagnostics) {
  Shared shared(model);
  const auto errors = diagnostics.errors();
  Inferrer inferrer(model, options, diagnostics, shared);
  inferrer.run(nullptr);
  if (options.inferred) *options.inferred += shared.inferred;
  if (!options.stop_at_fault) suspect_weights(model, diagnostics);
  inferrer.facts.sound = diagnostics.errors() == errors;
  return std::move(inferrer.facts);
}

}  // namespace ovir::passes
