// DeclaredCheck: the types and shapes of a file's ports against those inferred.
#include "passes/declared.hpp"

#include <fmt/core.h>

#include "base/text.hpp"
#include "model/report.hpp"

namespace ovir::passes {
namespace {

Fact declared(const Port& port) {
  Fact fact;
  if (port.declared_type) fact.type = *port.declared_type;
  if (port.declared_shape) fact.shape = *port.declared_shape;
  return fact;
}

/// A port against what was inferred of it.
struct Contradiction {
  bool type = false, shape = false;
  explicit operator bool() const { return type || shape; }
};

Contradiction contradiction(const Port& port, const Fact& inferred) {
  using enum ElementType;
  const auto type = port.declared_type.value_or(dynamic);
  // A port without <dim>s is a scalar or says nothing.
  const bool dims = port.declared_shape && !(port.declared_shape->has_rank() && port.declared_shape->rank() == 0);
  return {type != dynamic && inferred.type != dynamic && type != inferred.type,
          dims && !port.declared_shape->compatible(inferred.shape)};
}

/// The port may be wrong; where an attribute says the same, so may that be.
std::vector<Remedy> agreeing(const Node& node, const Port& at, const Fact& inferred, Contradiction wrong,
                             bool attributes_count) {
  const auto fact = declared(at);
  Remedy port, attributes;
  if (wrong.type) {
    port.push_back({Change::What::tag_attribute, "precision", std::string(precision_name(inferred.type))});
    for (const auto& def : node.version->attrs.defs) {
      const auto* given = def.kind == AttributeKind::element_type ? node.layer->attribute(def.name) : nullptr;
      if (given && given->value == name(inferred.type))
        attributes.push_back({Change::What::attribute, std::string(def.name), std::string(name(fact.type))});
    }
  }
  if (wrong.shape && inferred.shape.has_rank()) {
    port.push_back({Change::What::dims, {}, list_of(inferred.shape)});
    if (node.op->kind == Kind::parameter)
      attributes.push_back({Change::What::attribute, "shape", attribute_text(fact.shape)});
  }
  if (attributes.empty() || !attributes_count) return {std::move(port)};
  return {std::move(port), std::move(attributes)};
}

/// `stated`: by the layer's attributes.
Diagnostic contradicts(const Node& node, const Port& port, PortRef ref, const Fact& inferred, Contradiction wrong,
                       bool stated) {
  const auto fact = declared(port);
  const auto is = wrong.type ? describe(inferred) : to_string(inferred.shape);
  auto d = diagnose(Code::W0901,
                    fmt::format("{} port {} of \"{}\" declares {}, but {}", ref.input ? "input" : "output", ref.index,
                                printable(node.layer->name), wrong.type ? describe(fact) : to_string(fact.shape),
                                stated ? "its attributes say " + is : is + " was inferred"),
                    port.at);
  d.port = std::move(ref);
  return d;
}

}  // namespace

std::vector<Fact> declared_outputs(const Node& node) {
  std::vector<Fact> list;
  for (const auto& port : node.layer->outputs) list.push_back(declared(port));
  return list;
}

bool DeclaredCheck::is_interface(const Node& node, int output, ElementType type, ElementType inferred) {
  if (model_.graph->ir_version != 10 || !model_.path.empty()) return false;
  const bool exchanged = type == exchanged_type(model_, inferred, false);
  if (output < 0) return node.op->kind == Kind::result && exchanged;
  if (!readers_) {
    readers_.emplace();
    for (const auto& user : model_.nodes)
      for (const auto& v : user.inputs)
        if (v.node >= 0) (*readers_)[{v.node, v.port}] |= !user.op || user.op->kind != Kind::result;
  }
  const auto by = readers_->find({static_cast<int>(&node - model_.nodes.data()), output});
  return by == readers_->end() || (!by->second && exchanged);
}

void DeclaredCheck::compare(const Node& node, const Facts& facts, std::span<const Fact> outputs, bool received) {
  const auto& layer = *node.layer;
  for (std::size_t o = 0; o < layer.outputs.size() && o < outputs.size(); ++o) {
    const auto& port = layer.outputs[o];
    auto wrong = contradiction(port, outputs[o]);
    wrong.type = wrong.type && !is_interface(node, static_cast<int>(o), *port.declared_type, outputs[o].type);
    if (!wrong) continue;
    const bool stated = !received && (node.op->kind == Kind::parameter || node.op->kind == Kind::constant);
    auto d = contradicts(node, port, PortRef{false, static_cast<i64>(o), port.id, {}}, outputs[o], wrong, stated);
    d.label = fmt::format("{} {}",
                          received ? "it receives"
                          : stated ? "its attributes say"
                                   : "inferred",
                          describe(outputs[o]));
    d.remedies = agreeing(node, port, outputs[o], wrong, !received);
    report(diagnostics_, model_, layer, std::move(d));
  }
  for (std::size_t i = 0; i < layer.inputs.size() && i < node.inputs.size(); ++i) {
    const auto& port = layer.inputs[i];
    const auto& inferred = facts.of(node.inputs[i]);
    auto wrong = contradiction(port, inferred);
    wrong.type = wrong.type && !is_interface(node, -1, *port.declared_type, inferred.type);
    if (!wrong) continue;
    auto d = contradicts(node, port, PortRef{true, static_cast<i64>(i), port.id, {}}, inferred, wrong, false);
    d.label = fmt::format("inferred {}", describe(inferred));
    d.remedies = agreeing(node, port, inferred, wrong, false);
    const auto& producer = *model_[node.inputs[i].node].layer;
    d.notes.push_back({fmt::format("it comes from {}", describe(producer)), producer.at, "", ""});
    report(diagnostics_, model_, layer, std::move(d));
  }
}

}  // namespace ovir::passes
