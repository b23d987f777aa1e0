// resolve: binds layers to operation versions, parses attributes, connects edges, orders topologically.
#include <algorithm>
#include <set>

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

namespace ovir::passes {

namespace {

struct Resolver {
  const Registry& registry;
  Diagnostics& diagnostics;
  Leftovers leftovers{};

  std::shared_ptr<const Model> resolve(std::shared_ptr<const Graph> graph, std::string path) {
    auto model = std::make_shared<Model>();
    model->graph = std::move(graph);
    model->path = std::move(path);
    const auto errors_before = diagnostics.errors();
    const auto& layers = model->graph->layers;

    // In file order at first, and so are the diagnostics.
    std::vector<bool> faulty(layers.size(), false);
    auto inputs = connect(*model, faulty, diagnostics);
    model->nodes.resize(layers.size());
    for (std::size_t at = 0; at < layers.size(); ++at) {
      auto& node = model->nodes[at];
      node.layer = &layers[at];
      node.output_count = static_cast<int>(layers[at].outputs.size());
      bind(*model, node);
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
    for (auto& node : model->nodes) bind_bodies(*model, node);
    if (model->path.empty()) check_states(*model, diagnostics);
    const bool damaged =
        model->graph->damaged || std::any_of(layers.begin(), layers.end(), [](const Layer& l) { return l.damaged; }) ||
        std::any_of(model->nodes.begin(), model->nodes.end(), [](const Node& node) {
          return std::any_of(node.bodies.begin(), node.bodies.end(), [](const auto& body) { return !body->complete; });
        });
    model->complete = diagnostics.errors() == errors_before && !damaged;
    if (model->complete) {
      warn_unreachable(*model, diagnostics);
      warn_shared_names(*model, diagnostics);
      if (model->path.empty()) warn_overlapping_constants(*model, diagnostics);
    }
    return model;
  }

 private:
  void bind(const Model& model, Node& node) {
    const auto& layer = *node.layer;
    node.faulty = layer.damaged;
    if (layer.damaged && (layer.type.empty() || layer.version.empty())) return;
    node.faulty |= !attempt(diagnostics, model, layer, [&] {
      const auto found = find_operation(registry, layer.type, layer.version);
      node.op = found.op;
      node.version = found.version;
    });
    if (!node.op) return;
    // Files declare the outputs that are used; the operation has the others as well.
    node.output_count = std::max(node.output_count, min_count(node.version->outputs));
    node.attrs = parse_attributes(model, layer, *node.op, *node.version, diagnostics);
    node.faulty |= !node.attrs;
    check_unknown_attributes(model, layer, *node.op, *node.version, leftovers, diagnostics);
  }

  void bind_bodies(const Model& model, Node& node) {
    if (node.layer->bodies.empty() || !node.op) return;
    const auto& outer = *node.layer;
    for (const auto& body : outer.bodies) {
      auto inner = resolve(body.graph, fmt::format("{}{}/{}/", model.path, outer.name, body.role));
      auto map = map_body(model, outer, body, *inner, diagnostics);
      node.faulty |= !map;
      node.maps.push_back(map ? std::move(*map) : BodyMap{});
      node.bodies.push_back(std::move(inner));
    }
  }
};

}  // namespace

std::shared_ptr<const Model> resolve(std::shared_ptr<const Graph> graph, const Registry& registry,
                                     Diagnostics& diagnostics) {
  Resolver resolver{registry, diagnostics};
  auto model = resolver.resolve(std::move(graph), "");
  report_leftovers(resolver.leftovers, diagnostics);
  return model;
}

}  // namespace ovir::passes
