// resolve: binds layers to operation versions, parses attributes, connects edges, orders topologically.
#include <algorithm>
#include <map>
#include <utility>

#include "model/report.hpp"
#include "op/lookup.hpp"
#include "passes/attributes.hpp"
#include "passes/bodies.hpp"
#include "passes/connect.hpp"
#include "passes/constants.hpp"
#include "passes/names.hpp"
#include "passes/order.hpp"
#include "passes/passes.hpp"
#include "passes/states.hpp"
#include "passes/unknown_attributes.hpp"
#include "passes/unused.hpp"

namespace ovir::passes {

namespace {

/// What came of a graph.
struct Resolved {
  std::shared_ptr<const Model> model;
  Diagnostics diagnostics;
  Leftovers leftovers;
};

void append(Diagnostics& all, const Diagnostics& more) {
  for (const auto& d : more.all()) all.add(d);
  all.dependents += more.dependents;
}

class Resolver {
 public:
  explicit Resolver(const Registry& r) : registry_(r) {}

  /// A graph whose only faults are in what nothing needs is resolved without that. Each graph is resolved once: bodies
  /// are met again when the layers around them are.
  const Resolved& resolve(const std::shared_ptr<const Graph>& graph, const std::string& path) {
    const auto [at, fresh] = known_.try_emplace(graph.get());
    auto& result = at->second;
    if (!fresh) return result;
    result = resolve_all(graph, path);
    if (result.diagnostics.errors() == 0) return result;
    const auto needed = without_unused(*result.model);
    if (!needed) return result;
    auto rest = resolve_all(needed, path);
    if (!rest.model->complete) return result;
    Diagnostics faults;
    for (const auto& d : result.diagnostics.all())
      if (d.severity == Severity::error) faults.add(d);
    Diagnostics all;
    add_as_unused(faults, all);
    append(all, rest.diagnostics);
    rest.diagnostics = std::move(all);
    result = std::move(rest);
    return result;
  }

 private:
  const Registry& registry_;
  std::map<const Graph*, Resolved> known_;

  Resolved resolve_all(const std::shared_ptr<const Graph>& graph, const std::string& path) {
    Resolved result;
    auto& diagnostics = result.diagnostics;
    auto model = std::make_shared<Model>();
    model->graph = graph;
    model->path = path;
    const auto& layers = model->graph->layers;

    // In file order at first, and so are the diagnostics.
    std::vector<bool> faulty(layers.size(), false);
    auto inputs = connect(*model, faulty, diagnostics);
    model->nodes.resize(layers.size());
    for (std::size_t at = 0; at < layers.size(); ++at) {
      auto& node = model->nodes[at];
      node.layer = &layers[at];
      node.output_count = static_cast<int>(layers[at].outputs.size());
      bind(*model, node, result);
    }
    const auto order = topological_order(*model, inputs, reads_before_writes(*model), faulty, diagnostics);

    Diagnostic cut;
    const auto cut_off = cut_off_constants(*model, cut);
    if (!cut_off.empty()) report(diagnostics, *model, *cut_off.front(), std::move(cut));
    for (const auto* layer : cut_off) faulty[layer - layers.data()] = true;
    for (std::size_t at = 0; at < layers.size(); ++at) {
      auto& node = model->nodes[at];
      node.faulty |= faulty[at];
      if (!node.faulty && node.op->kind == Kind::constant)
        node.faulty =
            !attempt(diagnostics, *model, layers[at], [&] { node.constant = constant_value(*model->graph, node); });
    }

    std::vector<int> position(layers.size());
    for (int i = 0; i < std::ssize(order); ++i) position[order[i]] = i;
    std::vector<Node> ordered(layers.size());
    for (std::size_t at = 0; at < layers.size(); ++at) {
      for (auto& v : inputs[at])
        if (v.node >= 0) v.node = position[v.node];
      model->nodes[at].inputs = std::move(inputs[at]);
      ordered[position[at]] = std::move(model->nodes[at]);
    }
    model->nodes = std::move(ordered);
    for (std::size_t at = 0; at < layers.size(); ++at) {
      const auto& node = model->nodes[position[at]];
      if (!node.op) continue;
      if (node.op->kind == Kind::parameter) model->parameters.push_back(position[at]);
      if (node.op->kind == Kind::result) model->results.push_back(position[at]);
    }
    for (auto& node : model->nodes) bind_bodies(*model, node, result);
    if (model->path.empty()) check_states(*model, diagnostics);
    const bool damaged =
        model->graph->damaged || std::any_of(layers.begin(), layers.end(), [](const Layer& l) { return l.damaged; }) ||
        std::any_of(model->nodes.begin(), model->nodes.end(), [](const Node& node) {
          return std::any_of(node.bodies.begin(), node.bodies.end(), [](const auto& body) { return !body->complete; });
        });
    model->complete = diagnostics.errors() == 0 && !damaged;
    if (model->complete) {
      warn_unreachable(*model, diagnostics);
      warn_shared_names(*model, diagnostics);
      if (model->path.empty()) warn_overlapping_constants(*model, diagnostics);
    }
    result.model = std::move(model);
    return result;
  }

  void bind(const Model& model, Node& node, Resolved& result) {
    auto& diagnostics = result.diagnostics;
    const auto& layer = *node.layer;
    node.faulty = layer.damaged;
    if (layer.damaged && (layer.type.empty() || layer.version.empty())) return;
    node.faulty |= !attempt(diagnostics, model, layer, [&] {
      try {
        const auto found = find_operation(registry_, layer.type, layer.version);
        node.op = found.op;
        node.version = found.version;
      } catch (Failure& failure) {
        auto& d = failure.diagnostic;
        if (d.code == Code::E0602 || d.code == Code::E0603)
          d.at = value_in_tag(layer.at, d.code == Code::E0602 ? "type" : "version");
        throw;
      }
    });
    if (!node.op) return;
    // Files declare the outputs that are used; the operation has the others as well.
    node.output_count = std::max(node.output_count, min_count(node.version->outputs));
    node.attrs = parse_attributes(model, layer, *node.op, *node.version, diagnostics);
    node.faulty |= !node.attrs;
    check_unknown_attributes(model, layer, *node.op, *node.version, result.leftovers, diagnostics);
  }

  void bind_bodies(const Model& model, Node& node, Resolved& result) {
    if (node.layer->bodies.empty() || !node.op) return;
    const auto& outer = *node.layer;
    for (const auto& body : outer.bodies) {
      const auto& inner = resolve(body.graph, fmt::format("{}{}/{}/", model.path, outer.name, body.role));
      append(result.diagnostics, inner.diagnostics);
      result.leftovers.add(inner.leftovers);
      auto map = map_body(model, outer, body, *inner.model, result.diagnostics);
      node.faulty |= !map;
      node.maps.push_back(map ? std::move(*map) : BodyMap{});
      node.bodies.push_back(inner.model);
    }
  }
};

}  // namespace

std::shared_ptr<const Model> resolve(std::shared_ptr<const Graph> graph, const Registry& registry,
                                     Diagnostics& diagnostics) {
  Resolver resolver(registry);
  const auto& resolved = resolver.resolve(graph, "");
  append(diagnostics, resolved.diagnostics);
  report_leftovers(resolved.leftovers, diagnostics);
  return resolved.model;
}

}  // namespace ovir::passes
