// infer: element type, shape and small values of every output, compared with what the file declares.
#include <algorithm>

#include "base/text.hpp"
#include "op/infer_context.hpp"
#include "passes/detail.hpp"

namespace ovir::passes {
namespace {

class Inferrer {
 public:
  Inferrer(const Model& m, const InferOptions& o, Diagnostics& d, std::uint32_t& s)
      : model(m), options(o), diagnostics(d), symbols(s) {}

  Facts facts;

  /// `given`: the facts of the Parameters, where this is a body.
  void run(const std::vector<Fact>* given) {
    facts.outputs.resize(model.nodes.size());
    facts.bodies.resize(model.nodes.size());
    unknown_.assign(model.nodes.size(), false);
    std::vector<int> parameter_of(model.nodes.size(), -1);
    for (std::size_t k = 0; k < model.parameters.size(); ++k)
      parameter_of[static_cast<std::size_t>(model.parameters[k])] = static_cast<int>(k);
    for (std::size_t i = 0; i < model.nodes.size(); ++i) {
      const auto& node = model.nodes[i];
      auto& outputs = facts.outputs[i];
      outputs = declared(node);
      const auto k = parameter_of[i];
      if (node.faulty || (given && k >= 0 && !usable(*given, k))) {
        unknown_[i] = true;
        forget(outputs);
        continue;
      }
      if (given && k >= 0 && !outputs.empty()) {
        outputs[0] = (*given)[static_cast<std::size_t>(k)];
        continue;
      }
      if (depends_on_unknown(node)) {
        unknown_[i] = true;
        ++diagnostics.dependents;
        forget(outputs);
        continue;
      }
      infer_one(static_cast<int>(i), k);
      if (options.stop_at_fault && unknown_[i]) {
        facts.outputs.resize(i + 1);
        return;
      }
    }
  }

 private:
  const Model& model;
  const InferOptions& options;
  Diagnostics& diagnostics;
  std::uint32_t& symbols;
  std::vector<bool> unknown_;
  std::optional<LineIndex> lines_;

  static bool usable(const std::vector<Fact>& given, int k) { return k < static_cast<int>(given.size()); }
  static void forget(std::vector<Fact>& outputs) { outputs.assign(outputs.size(), Fact{}); }

  static std::vector<Fact> declared(const Node& node) {
    std::vector<Fact> list;
    for (const auto& port : node.layer->outputs) {
      Fact f;
      if (port.declared_type) f.type = *port.declared_type;
      if (port.declared_shape) f.shape = *port.declared_shape;
      list.push_back(std::move(f));
    }
    return list;
  }

  bool depends_on_unknown(const Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueRef v) { return v.node < 0 || unknown_[static_cast<std::size_t>(v.node)]; });
  }

  void infer_one(int at, int parameter) {
    const auto index = static_cast<std::size_t>(at);
    const auto& node = model.nodes[index];
    std::vector<Fact> inputs;
    for (const auto& v : node.inputs) inputs.push_back(facts.of(v));
    const auto declared_facts = std::move(facts.outputs[index]);
    // A Result or an Assign has no output port in the file, yet one fact: what it receives.
    const int outputs = node.op->kind == Kind::result || node.op->kind == Kind::assign ? 1 : node.output_count;

    InferContext c(*node.op, *node.version, node.attrs.get(), inputs, outputs);
    c.set_symbols(&symbols);
    c.set_declared(declared_facts);
    facts.bodies[index].resize(node.bodies.size());
    c.set_bodies(node.maps,
                 [&](int body, const std::vector<Fact>& parameters) { return infer_body(index, body, parameters); });
    const bool good = attempt(diagnostics, model, *node.layer, [&] {
      try {
        infer_node(c);
      } catch (Failure& failure) {
        explain(failure.diagnostic, model, node, c, lines_);
        suggest(failure.diagnostic, node);
        throw;
      }
    });
    if (!good) {
      unknown_[index] = true;
      facts.outputs[index].assign(static_cast<std::size_t>(outputs), Fact{});
      return;
    }
    facts.outputs[index] = std::move(c.outputs());
    auto& result = facts.outputs[index];
    if (node.op->kind == Kind::constant && !result.empty()) result[0].value = node.constant;
    if (parameter >= 0 && !result.empty()) finish_parameter(parameter, result[0]);
    if (options.compare_declared && options.shapes.empty()) compare(node, declared_facts, result);
  }

  void finish_parameter(int k, Fact& fact) {
    if (const auto given = options.shapes.find(k); given != options.shapes.end()) fact.shape = given->second;
    if (!fact.shape.has_rank()) return;
    for (auto& d : fact.shape.dims())
      if (!d.is_static() && d.symbol == 0) d.symbol = ++symbols;
  }

  std::vector<Fact> infer_body(std::size_t node, int body, const std::vector<Fact>& parameters) {
    const auto& inner = *model.nodes[node].bodies[static_cast<std::size_t>(body)];
    Diagnostics silent;  // rounds before the fixed point repeat themselves
    auto body_options = options;
    body_options.shapes.clear();
    body_options.compare_declared = false;
    Inferrer nested(inner, body_options, silent, symbols);
    nested.run(&parameters);
    for (auto d : silent.all()) {
      if (d.severity != Severity::error) continue;
      explain_body(d, model, model.nodes[node], model.nodes[node].maps[static_cast<std::size_t>(body)], inner);
      throw Failure(std::move(d));
    }
    std::vector<Fact> results;
    for (const auto r : inner.results) results.push_back(nested.facts.outputs[static_cast<std::size_t>(r)].at(0));
    facts.bodies[node][static_cast<std::size_t>(body)] = std::move(nested.facts);
    return results;
  }

  /// What one version refuses another may take: the file may name the wrong operation set.
  static void suggest(Diagnostic& d, const Node& node) {
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
      if (&version != node.version)
        d.remedies.push_back({{Change::What::layer_attribute, "version", fmt::format("opset{}", version.since)}});
  }

  void compare(const Node& node, const std::vector<Fact>& said, const std::vector<Fact>& inferred) {
    for (std::size_t o = 0; o < node.layer->outputs.size() && o < inferred.size(); ++o)
      contradiction(node, node.layer->outputs[o],
                    PortRef{false, static_cast<std::int64_t>(o), node.layer->outputs[o].id, {}}, said[o], inferred[o],
                    nullptr);
    for (std::size_t i = 0; i < node.layer->inputs.size() && i < node.inputs.size(); ++i) {
      const auto& port = node.layer->inputs[i];
      const auto v = node.inputs[i];
      Fact declared_fact;
      if (port.declared_type) declared_fact.type = *port.declared_type;
      if (port.declared_shape) declared_fact.shape = *port.declared_shape;
      contradiction(node, port, PortRef{true, static_cast<std::int64_t>(i), port.id, {}}, declared_fact, facts.of(v),
                    model[v.node].layer);
    }
  }

  /// The port may be wrong; where an attribute says the same, so may that be.
  static std::vector<Remedy> agreeing(const Node& node, const Fact& said, const Fact& inferred, bool type, bool shape) {
    Remedy port, attributes;
    if (type) {
      port.push_back({Change::What::tag_attribute, "precision", std::string(precision_name(inferred.type))});
      for (const auto& def : node.version->attrs.defs) {
        const auto* given = def.kind == AttributeKind::element_type ? node.layer->attribute(def.name) : nullptr;
        if (given && given->value == name(inferred.type))
          attributes.push_back({Change::What::attribute, std::string(def.name), std::string(name(said.type))});
      }
    }
    if (shape && inferred.shape.has_rank()) {
      port.push_back({Change::What::dims, {}, list_of(inferred.shape)});
      if (node.op->kind == Kind::parameter)
        attributes.push_back({Change::What::attribute, "shape", attribute_text(said.shape)});
    }
    if (attributes.empty()) return {std::move(port)};
    return {std::move(port), std::move(attributes)};
  }

  /// W0901, where the file and the inference cannot both be right.
  void contradiction(const Node& node, const Port& port, PortRef ref, const Fact& said, const Fact& inferred,
                     const Layer* producer) {
    const bool type =
        said.type != ElementType::dynamic && inferred.type != ElementType::dynamic && said.type != inferred.type;
    // A port without <dim>s is a scalar or says nothing.
    const bool nothing_said = !port.declared_shape || (said.shape.has_rank() && said.shape.rank() == 0);
    const bool shape = !nothing_said && !said.shape.compatible(inferred.shape);
    if (!type && !shape) return;
    Diagnostic d;
    d.severity = Severity::warning;
    d.code = Code::W0901;
    d.message = fmt::format("{} port {} of \"{}\" is declared {} but is {}", ref.input ? "input" : "output", ref.index,
                            printable(node.layer->name), type ? describe(said) : to_string(said.shape),
                            type ? describe(inferred) : to_string(inferred.shape));
    d.at = port.at;
    const bool stated = node.op->kind == Kind::parameter || node.op->kind == Kind::constant;
    d.label = fmt::format("{} {}", stated ? "its attributes say" : "inferred", describe(inferred));
    d.port = std::move(ref);
    d.remedies = agreeing(node, said, inferred, type, shape);
    if (d.port->input) d.remedies.resize(1);
    if (producer)
      d.notes.push_back({fmt::format("it comes from layer {} \"{}\"", producer->id, printable(producer->name)),
                         producer->at, "", ""});
    report(diagnostics, model, *node.layer, std::move(d));
  }
};

}  // namespace

Facts infer(const Model& model, const InferOptions& options, Diagnostics& diagnostics) {
  std::uint32_t symbols = 0;
  const auto errors = diagnostics.errors();
  Inferrer inferrer(model, options, diagnostics, symbols);
  inferrer.run(nullptr);
  if (inferrer.facts.outputs.size() == model.nodes.size()) check_assigned(model, inferrer.facts, diagnostics);
  inferrer.facts.sound = diagnostics.errors() == errors;
  return std::move(inferrer.facts);
}

}  // namespace ovir::passes
