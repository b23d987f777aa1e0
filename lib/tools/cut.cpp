#include "tools/cut.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/core.h>

#include "base/text.hpp"

namespace ovir::tools {
namespace {

std::string full_name(const Selected& s) { return printable(s.model->path + (*s.model)[s.node].layer->name); }

void require_part(const Selected& s, const Model*& part) {
  if (part == nullptr) part = s.model;
  if (s.iteration) throw SelectorError(fmt::format("\"{}\": expected a layer, not an iteration of it", full_name(s)));
  if (s.model == part) return;
  const auto name_of = [](const Model& model) {
    return model.path.empty() ? "the model itself" : fmt::format("the body \"{}\"", printable(model.path));
  };
  throw SelectorError(
      fmt::format("expected a layer of {}, but \"{}\" lies in {}", name_of(*part), full_name(s), name_of(*s.model)));
}

/// Without the layers of bodies whose owner is selected, too: they come with it.
std::vector<Selected> without_inner(const std::vector<Selected>& layers) {
  const auto within_another = [&](const Selected& s) {
    return std::any_of(layers.begin(), layers.end(), [&](const Selected& owner) {
      const auto& node = (*owner.model)[owner.node];
      return std::any_of(node.bodies.begin(), node.bodies.end(),
                         [&](const auto& body) { return s.model->path.starts_with(body->path); });
    });
  };
  std::vector<Selected> outer;
  std::copy_if(layers.begin(), layers.end(), std::back_inserter(outer),
               [&](const Selected& s) { return !within_another(s); });
  return outer;
}

/// The outputs that the file gives a node: an Assign has none, though its operation has.
int output_ports(const Node& node) { return std::min(node.output_count, static_cast<int>(node.layer->outputs.size())); }

/// Per node: it depends on Constants alone, and gives the same values each time.
std::vector<bool> constant_nodes(const Model& model) {
  std::vector<bool> constant(model.nodes.size(), false);
  for (std::size_t i = 0; i < constant.size(); ++i) {
    const auto& node = model.nodes[i];
    if (!node.op || !node.version) continue;
    const bool inputs_are = std::all_of(node.inputs.begin(), node.inputs.end(),
                                        [&](const ValueRef& v) { return v.node >= 0 && constant[v.node]; });
    constant[i] = node.op->kind == Kind::constant ||
                  (node.op->kind == Kind::compute && node.version->pure && !node.inputs.empty() && inputs_are);
  }
  return constant;
}

bool contains(const std::vector<ValueRef>& list, const ValueRef& v) {
  return std::any_of(list.begin(), list.end(),
                     [&](const ValueRef& other) { return other.node == v.node && other.port == v.port; });
}

}  // namespace

Cut around(const std::vector<Selected>& selected, const Model& whole, const Facts& facts) {
  Cut cut;
  const auto layers = without_inner(selected);
  for (const auto& s : layers) require_part(s, cut.part);
  if (cut.part == nullptr) return cut;
  const auto& part = *cut.part;
  std::vector<bool> inside(part.nodes.size(), false);
  for (const auto& s : layers) inside[s.node] = true;
  const auto constant = constant_nodes(part);
  const auto* const inferred = facts_of(whole, facts, part);
  const auto known = [&](const ValueRef& v) {
    const bool has =
        inferred && v.node < std::ssize(inferred->outputs) && v.port < std::ssize(inferred->outputs[v.node]);
    return has ? inferred->of(v).value : Tensor();
  };

  std::vector<std::vector<bool>> taken_inside(part.nodes.size()), taken_outside(part.nodes.size());
  for (std::size_t i = 0; i < part.nodes.size(); ++i) {
    const auto ports = std::max<i64>(part.nodes[i].output_count, std::ssize(part.nodes[i].layer->outputs));
    taken_inside[i].resize(ports);
    taken_outside[i].resize(ports);
  }
  for (std::size_t i = 0; i < part.nodes.size(); ++i) {
    for (const auto& v : part.nodes[i].inputs) {
      if (v.node < 0) continue;
      const bool is_result = part.nodes[i].op && part.nodes[i].op->kind == Kind::result;
      (inside[i] && !is_result ? taken_inside : taken_outside)[v.node][v.port] = true;
      if (!inside[i] || inside[v.node] || constant[v.node]) continue;
      if (auto value = known(v)) cut.frozen.emplace_back(v, std::move(value));
      else if (!contains(cut.inputs, v)) cut.inputs.push_back(v);
      if (output_ports(part.nodes[i]) == 0 && !contains(cut.outputs, v)) cut.outputs.push_back(v);
    }
  }
  for (int i = 0; i < std::ssize(part.nodes); ++i)
    for (int p = 0; inside[i] && p < output_ports(part[i]); ++p)
      if (taken_outside[i][p] || !taken_inside[i][p]) cut.outputs.push_back({i, p});
  return cut;
}

std::vector<ValueRef> values_of(const std::vector<Selected>& layers, End end, const Model*& part) {
  std::vector<ValueRef> values;
  for (const auto& s : layers) {
    require_part(s, part);
    const auto& node = (*s.model)[s.node];
    const int ports = output_ports(node);
    if (end == End::outputs && ports == 0)
      for (const auto& v : node.inputs)
        if (v.node >= 0) values.push_back(v);
    for (int p = 0; p < ports; ++p)
      if (!s.port || *s.port == p) values.push_back({s.node, p});
    if (ports == 0 && (end == End::inputs || node.inputs.empty()))
      throw SelectorError(fmt::format("\"{}\" ({}) has no output", full_name(s), printable(node.layer->type)));
  }
  return values;
}

std::vector<ValueRef> results_of(const Model& part) {
  std::vector<ValueRef> values;
  for (const auto r : part.results)
    for (const auto& v : part[r].inputs)
      if (v.node >= 0) values.push_back(v);
  return values;
}

const Facts* facts_of(const Model& whole, const Facts& facts, const Model& part) {
  if (&whole == &part) return facts.outputs.size() == whole.nodes.size() ? &facts : nullptr;
  for (std::size_t i = 0; i < whole.nodes.size() && i < facts.bodies.size(); ++i)
    for (std::size_t b = 0; b < whole.nodes[i].bodies.size() && b < facts.bodies[i].size(); ++b)
      if (const auto* found = facts_of(*whole.nodes[i].bodies[b], facts.bodies[i][b], part)) return found;
  return nullptr;
}

}  // namespace ovir::tools
