// infer: element type, shape and small values of every output, compared with what the file declares.
#include <algorithm>

#include "op/infer_context.hpp"
#include "passes/detail.hpp"

namespace ovir::passes {
namespace {

std::string describe(const Fact& f) { return fmt::format("{}{}", name(f.type), to_string(f.shape)); }

/// An operand's value in a note: "i64 {1, 4, 64}".
std::string describe_value(const Tensor& t) {
  if (t.type() == ElementType::string || t.size() > 16) return fmt::format("{}{}", name(t.type()), to_string(t.shape()));
  std::string list;
  for (const auto v : to_f64(t)) list += fmt::format("{}{}", list.empty() ? "" : ", ", v);
  return fmt::format("{} {{{}}}", name(t.type()), list);
}

class Inferrer {
 public:
  Inferrer(const Model& m, const InferOptions& o, Diagnostics& d, std::uint32_t& s) : model(m), options(o), diagnostics(d), symbols(s) {}

  Facts facts;

  /// `given`: the facts of the Parameters, where this is a body.
  void run(const std::vector<Fact>* given) {
    facts.outputs.resize(model.nodes.size());
    facts.bodies.resize(model.nodes.size());
    unknown_.assign(model.nodes.size(), false);
    std::vector<int> parameter_of(model.nodes.size(), -1);
    for (std::size_t k = 0; k < model.parameters.size(); ++k) parameter_of[static_cast<std::size_t>(model.parameters[k])] = static_cast<int>(k);
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
    }
  }

 private:
  const Model& model;
  const InferOptions& options;
  Diagnostics& diagnostics;
  std::uint32_t& symbols;
  std::vector<bool> unknown_;

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
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueRef v) { return v.node < 0 || unknown_[static_cast<std::size_t>(v.node)]; });
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
    c.set_bodies(node.maps, [&](int body, const std::vector<Fact>& parameters) { return infer_body(index, body, parameters); });
    const bool good = attempt(diagnostics, model, *node.layer, [&] {
      try {
        infer_node(c);
      } catch (Failure& failure) {
        explain(failure.diagnostic, node);
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
    for (const auto& d : silent.all())
      if (d.severity == Severity::error) throw Failure(d);
    std::vector<Fact> results;
    for (const auto r : inner.results) results.push_back(nested.facts.outputs[static_cast<std::size_t>(r)].at(0));
    facts.bodies[node][static_cast<std::size_t>(body)] = std::move(nested.facts);
    return results;
  }

  /// Says what reached the input at fault, and where a constant among the inputs is stored.
  void explain(Diagnostic& d, const Node& node) const {
    if (d.layer) return;  // from a body: already explained
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto& v = node.inputs[i];
      const auto& producer = model[v.node];
      const auto& fact = facts.of(v);
      if (d.port && d.port->input && d.port->index == static_cast<std::int64_t>(i))
        d.label = fmt::format("input {}: inferred {}, from layer {} \"{}\"", i, describe(fact), producer.layer->id, producer.layer->name);
      if (producer.op && producer.op->kind == Kind::constant && fact.value && fact.value.size() <= 16) {
        Note note;
        note.message = fmt::format("input {} is constant layer {} \"{}\" = {}", i, producer.layer->id, producer.layer->name, describe_value(fact.value));
        note.at = producer.layer->at;
        const auto number = [&](std::string_view attribute) {
          const auto* given = producer.layer->attribute(attribute);
          return given ? parse_number<std::int64_t>(given->value) : std::nullopt;
        };
        if (const auto offset = number("offset"), size = number("size"); offset && size)
          note.where = fmt::format("stored at {}[{}..{})", model.graph->weights_path, *offset, *offset + *size);
        d.notes.push_back(std::move(note));
      } else if (!d.port || d.port->index != static_cast<std::int64_t>(i)) {
        Note note;
        note.message = fmt::format("input {} is {}, from layer {} \"{}\"", i, describe(fact), producer.layer->id, producer.layer->name);
        note.at = producer.layer->at;
        d.notes.push_back(std::move(note));
      }
      if (d.notes.size() >= 4) break;
    }
  }

  void compare(const Node& node, const std::vector<Fact>& said, const std::vector<Fact>& inferred) {
    for (std::size_t o = 0; o < node.layer->outputs.size() && o < inferred.size(); ++o)
      contradiction(node, node.layer->outputs[o], PortRef{false, static_cast<std::int64_t>(o), node.layer->outputs[o].id, {}}, said[o], inferred[o], nullptr);
    for (std::size_t i = 0; i < node.layer->inputs.size() && i < node.inputs.size(); ++i) {
      const auto& port = node.layer->inputs[i];
      const auto v = node.inputs[i];
      Fact declared_fact;
      if (port.declared_type) declared_fact.type = *port.declared_type;
      if (port.declared_shape) declared_fact.shape = *port.declared_shape;
      contradiction(node, port, PortRef{true, static_cast<std::int64_t>(i), port.id, {}}, declared_fact, facts.of(v), model[v.node].layer);
    }
  }

  /// W0901, where the file and the inference cannot both be right.
  void contradiction(const Node& node, const Port& port, PortRef ref, const Fact& said, const Fact& inferred, const Layer* producer) {
    const bool type = said.type != ElementType::dynamic && inferred.type != ElementType::dynamic && said.type != inferred.type;
    // A port without <dim>s is a scalar or says nothing.
    const bool nothing_said = !port.declared_shape || (said.shape.has_rank() && said.shape.rank() == 0);
    const bool shape = !nothing_said && !said.shape.compatible(inferred.shape);
    if (!type && !shape) return;
    Diagnostic d;
    d.severity = Severity::warning;
    d.code = Code::W0901;
    d.message = fmt::format("{} port {} of \"{}\" is declared {} but is {}", ref.input ? "input" : "output", ref.index, node.layer->name,
                            type ? describe(said) : to_string(said.shape), type ? describe(inferred) : to_string(inferred.shape));
    d.at = port.at;
    d.label = fmt::format("inferred {}", describe(inferred));
    d.port = std::move(ref);
    if (producer) d.notes.push_back({fmt::format("it comes from layer {} \"{}\"", producer->id, producer->name), producer->at, "", ""});
    report(diagnostics, model, *node.layer, std::move(d));
  }
};

}  // namespace

Facts infer(const Model& model, const InferOptions& options, Diagnostics& diagnostics) {
  std::uint32_t symbols = 0;
  Inferrer inferrer(model, options, diagnostics, symbols);
  inferrer.run(nullptr);
  return std::move(inferrer.facts);
}

}  // namespace ovir::passes
