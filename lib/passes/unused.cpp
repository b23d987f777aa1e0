#include "passes/unused.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ovir::passes {
namespace {

/// What could not be read or bound, and gives nothing to other layers, may be a Result.
bool is_root(const Node& node) {
  return node.ends() || node.layer->damaged ||
         (node.op ? node.op->kind == Kind::parameter : node.layer->outputs.empty());
}

}  // namespace

std::shared_ptr<const Graph> without_unused(const Model& model) {
  const auto& graph = *model.graph;
  if (graph.damaged || std::ranges::none_of(model.nodes, &Node::ends)) return nullptr;
  std::unordered_map<i64, std::vector<i64>> feeding;
  for (const auto& edge : graph.edges) feeding[edge.to_layer].push_back(edge.from_layer);
  std::unordered_set<i64> ids, used;
  std::vector<i64> open;
  for (const auto& node : model.nodes) {
    ids.insert(node.layer->id);
    if (is_root(node) && used.insert(node.layer->id).second) open.push_back(node.layer->id);
  }
  while (!open.empty()) {
    const auto at = feeding.find(open.back());
    open.pop_back();
    if (at == feeding.end()) continue;
    for (const auto from : at->second)
      if (used.insert(from).second) open.push_back(from);
  }
  const auto is_used = [&](const Layer& layer) { return used.contains(layer.id); };
  const auto leads_to_used = [&](const Edge& edge) {
    return ids.contains(edge.to_layer) && used.contains(edge.to_layer);
  };
  if (std::all_of(graph.layers.begin(), graph.layers.end(), is_used) &&
      std::all_of(graph.edges.begin(), graph.edges.end(), leads_to_used))
    return nullptr;
  auto result = std::make_shared<Graph>(graph);
  result->layers.clear();
  result->edges.clear();
  std::partition_copy(graph.layers.begin(), graph.layers.end(), std::back_inserter(result->layers),
                      std::back_inserter(result->left_out), is_used);
  std::copy_if(graph.edges.begin(), graph.edges.end(), std::back_inserter(result->edges), leads_to_used);
  return result;
}

void add_as_unused(const Diagnostics& found, Diagnostics& diagnostics) {
  for (auto d : found.all()) {
    if (d.severity == Severity::error) {
      d.code = Code::W0909;
      d.severity = Severity::warning;
      d.message += "; no Result depends on this, and the model runs without it";
    }
    diagnostics.add(std::move(d));
  }
}

}  // namespace ovir::passes
