// map_body: a body's port map and back edges from ids to positions.
#include <algorithm>

#include "passes/detail.hpp"

namespace ovir::passes {
namespace {

[[noreturn]] void fault(const SourceLoc& at, std::string message) {
  Diagnostic d;
  d.code = Code::E0208;
  d.message = std::move(message);
  d.at = at;
  fail(std::move(d));
}

/// The position among the body's parameters (or results) of the layer with this id.
int inner_position(const Model& inner, const std::vector<int>& nodes, std::int64_t id, std::string_view what, const std::string& role, const SourceLoc& at) {
  for (std::size_t k = 0; k < nodes.size(); ++k)
    if (inner[nodes[k]].layer->id == id) return static_cast<int>(k);
  fault(at, fmt::format("layer {} is no {} of the {}", id, what, role));
}

}  // namespace

BodyMap map_body(const Layer& outer, const Body& body, const Model& inner) {
  BodyMap map;
  map.role = body.role;
  map.parameter_count = static_cast<int>(inner.parameters.size());
  map.result_count = static_cast<int>(inner.results.size());
  for (const auto& entry : body.port_map) {
    const bool input = entry.direction == PortMap::Direction::input;
    BodyLink link;
    link.inner = inner_position(inner, input ? inner.parameters : inner.results, entry.internal_layer, input ? "parameter" : "result", body.role, entry.at);
    if (entry.purpose == "current_iteration") {
      map.iteration_parameter = link.inner;
      const auto& ports = inner[inner.parameters[static_cast<std::size_t>(link.inner)]].layer->outputs;
      if (!ports.empty() && ports[0].declared_type) map.iteration_type = *ports[0].declared_type;
      if (!ports.empty() && ports[0].declared_shape) map.iteration_shape = *ports[0].declared_shape;
    }
    if (entry.purpose == "execution_condition") map.condition_result = link.inner;
    if (entry.external_port < 0) {
      if (entry.purpose.empty()) fault(entry.at, "a port map entry names no external port");
      continue;
    }
    link.port = input ? input_position(outer, entry.external_port) : output_position(outer, entry.external_port);
    if (link.port < 0) fault(entry.at, fmt::format("layer {} \"{}\" has no {} port {}", outer.id, outer.name, input ? "input" : "output", entry.external_port));
    link.sliced = entry.axis.has_value();
    link.axis = entry.axis.value_or(0);
    link.start = entry.start;
    link.end = entry.end;
    link.stride = entry.stride;
    link.part_size = entry.part_size;
    if (link.sliced && (link.stride == 0 || link.part_size <= 0)) fault(entry.at, fmt::format("stride {} and part_size {} cannot slice", link.stride, link.part_size));
    (input ? map.inputs : map.outputs).push_back(link);
  }
  for (const auto& edge : body.back_edges)
    map.feedback.push_back({inner_position(inner, inner.results, edge.from_layer, "result", body.role, edge.at),
                            inner_position(inner, inner.parameters, edge.to_layer, "parameter", body.role, edge.at)});
  std::vector<bool> fed(inner.parameters.size(), false);
  for (const auto& link : map.inputs) fed[static_cast<std::size_t>(link.inner)] = true;
  if (map.iteration_parameter >= 0) fed[static_cast<std::size_t>(map.iteration_parameter)] = true;
  for (std::size_t k = 0; k < fed.size(); ++k)
    if (!fed[k]) fault(outer.at, fmt::format("nothing feeds Parameter \"{}\" of the {}", inner[inner.parameters[k]].layer->name, body.role));
  return map;
}

}  // namespace ovir::passes
