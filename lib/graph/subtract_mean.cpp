#include "graph/subtract_mean.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "tensor/tensor.hpp"

namespace ovir {

namespace {

std::string unused_name(const Graph& graph, std::string name) {
  const auto taken = [&](const Layer& layer) { return layer.name == name; };
  while (std::any_of(graph.layers.begin(), graph.layers.end(), taken)) name += '_';
  return name;
}

Layer added_layer(const Graph& graph, std::string name, std::string type, const SourceLoc& at) {
  std::set<i64> ids;
  for (const auto& other : graph.layers) ids.insert(other.id);
  Layer layer;
  while (ids.contains(layer.id)) ++layer.id;
  layer.id_text = std::to_string(layer.id);
  layer.name = unused_name(graph, std::move(name));
  layer.type = std::move(type);
  layer.version = "opset1";
  layer.at = at;
  layer.added = true;
  return layer;
}

}  // namespace

void subtract_mean(Graph& graph, const Layer& input, Mean mean, const SourceLoc& at) {
  const auto source = input.id, source_port = input.outputs[0].id;
  const auto name = input.name;  // a new layer moves `input`
  auto means = added_layer(graph, name + "/mean", "Const", at);
  const auto size = packed_size(mean.type, mean.shape.count()).value_or(0);
  means.attributes = {{"element_type", std::string(ovir::name(mean.type)), at},
                      {"shape", attribute_text(PartialShape(mean.shape)), at},
                      {"offset", "0", at},
                      {"size", std::to_string(size), at}};
  means.outputs = {{0, mean.type, PartialShape(mean.shape), {}, at}};
  means.value = std::move(mean.value);
  const auto means_id = means.id;
  graph.layers.push_back(std::move(means));

  auto difference = added_layer(graph, name + "/subtract_mean", "Subtract", at);
  difference.attributes = {{"auto_broadcast", "numpy", at}};
  difference.inputs = {{0, mean.type, PartialShape(mean.input_shape), {}, at},
                       {1, mean.type, PartialShape(mean.shape), {}, at}};
  difference.outputs = {{2, mean.type, PartialShape(mean.input_shape), {}, at}};
  for (auto& edge : graph.edges) {
    if (edge.from_layer != source) continue;
    edge.from_layer = difference.id;
    edge.from_port = difference.outputs[0].id;
  }
  graph.edges.push_back({source, source_port, difference.id, 0, at});
  graph.edges.push_back({means_id, 0, difference.id, 1, at});
  graph.layers.push_back(std::move(difference));
}

}  // namespace ovir
