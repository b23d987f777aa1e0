// connect: edges from ids to positions; the topological order.
#include <algorithm>
#include <optional>
#include <queue>
#include <set>

#include "passes/detail.hpp"

namespace ovir::passes {

int input_position(const Layer& layer, std::int64_t port_id) {
  for (std::size_t i = 0; i < layer.inputs.size(); ++i)
    if (layer.inputs[i].id == port_id) return static_cast<int>(i);
  return -1;
}

int output_position(const Layer& layer, std::int64_t port_id) {
  for (std::size_t i = 0; i < layer.outputs.size(); ++i)
    if (layer.outputs[i].id == port_id) return static_cast<int>(i);
  return -1;
}

namespace {

Diagnostic fault(Code code, std::string message, SourceLoc at) {
  Diagnostic d;
  d.code = code;
  d.message = std::move(message);
  d.at = std::move(at);
  return d;
}

std::string ids_of(const std::vector<Port>& ports) {
  std::string text;
  for (const auto& p : ports) text += fmt::format("{}{}", text.empty() ? "" : ", ", p.id);
  return text.empty() ? "none" : text;
}

std::unordered_map<std::int64_t, int> index_layers(const Model& model, std::vector<bool>& faulty, Diagnostics& diagnostics) {
  const auto& layers = model.graph->layers;
  std::unordered_map<std::int64_t, int> index;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto [first, fresh] = index.emplace(layers[i].id, static_cast<int>(i));
    if (!fresh) {
      const auto& other = layers[static_cast<std::size_t>(first->second)];
      auto d = fault(Code::E0201, fmt::format("layer id {} is taken twice: by \"{}\" and by \"{}\"", layers[i].id, other.name, layers[i].name), layers[i].at);
      d.notes.push_back({"the first layer with this id", other.at, "", ""});
      report(diagnostics, model, layers[i], std::move(d));
      faulty[i] = true;
    }
    for (const auto* ports : {&layers[i].inputs, &layers[i].outputs})
      for (std::size_t p = 0; p < ports->size(); ++p)
        for (std::size_t q = 0; q < p; ++q)
          if ((*ports)[p].id == (*ports)[q].id && !layers[i].damaged) {
            report(diagnostics, model, layers[i], fault(Code::E0207, fmt::format("port id {} is taken twice", (*ports)[p].id), (*ports)[p].at));
            faulty[i] = true;
          }
  }
  return index;
}

Remedy tag(std::vector<std::pair<std::string, std::int64_t>> attributes) {
  Remedy remedy;
  for (auto& [name, value] : attributes) remedy.push_back({Change::What::tag_attribute, std::move(name), std::to_string(value)});
  return remedy;
}

/// What edges should be, as far as there is only one possibility: the one input that nothing feeds, the one output that
/// nobody reads.
class Loose {
 public:
  explicit Loose(const Graph& g) : graph(g) {
    for (const auto& edge : g.edges) {
      fed_.emplace(edge.to_layer, edge.to_port);
      read_.emplace(edge.from_layer, edge.from_port);
    }
  }

  /// The one input of `layer` (of the graph, where it is null) that no edge leads to.
  std::vector<Remedy> input(const Layer* layer = nullptr) const {
    return only(layer, "to", fed_, [](const Layer& l) -> const auto& { return l.inputs; });
  }
  /// The one output that no edge comes from.
  std::vector<Remedy> output(const Layer* layer = nullptr) const {
    return only(layer, "from", read_, [](const Layer& l) -> const auto& { return l.outputs; });
  }

 private:
  const Graph& graph;
  std::set<std::pair<std::int64_t, std::int64_t>> fed_, read_;

  template <class Ports>
  std::vector<Remedy> only(const Layer* wanted, const std::string& word, const std::set<std::pair<std::int64_t, std::int64_t>>& used, Ports ports) const {
    std::vector<Remedy> found;
    for (const auto& layer : graph.layers) {
      if (wanted && &layer != wanted) continue;
      for (const auto& port : ports(layer)) {
        if (used.contains({layer.id, port.id})) continue;
        if (wanted) found.push_back(tag({{word + "-port", port.id}}));
        else found.push_back(tag({{word + "-layer", layer.id}, {word + "-port", port.id}}));
      }
    }
    if (found.size() > 1) found.clear();
    return found;
  }
};

}  // namespace

std::vector<std::vector<ValueRef>> connect(const Model& model, std::vector<bool>& faulty, Diagnostics& diagnostics) {
  const auto& graph = *model.graph;
  const auto index = index_layers(model, faulty, diagnostics);
  std::vector<std::vector<ValueRef>> inputs;
  std::vector<std::vector<const Edge*>> edges;
  for (const auto& layer : graph.layers) {
    inputs.emplace_back(layer.inputs.size());
    edges.emplace_back(layer.inputs.size(), nullptr);
  }
  std::optional<Loose> known_loose;  // only where it is asked for: nearly every model has no such fault
  const auto loose = [&]() -> const Loose& { return known_loose ? *known_loose : known_loose.emplace(graph); };
  const auto say = [&](int layer, Diagnostic d, std::vector<Remedy> remedies = {}) {
    d.remedies = std::move(remedies);
    if (layer >= 0) faulty[static_cast<std::size_t>(layer)] = true;
    // What seems to be missing may be what could not be read, and that was said.
    if (graph.damaged && (d.code == Code::E0202 || d.code == Code::E0205)) return;
    if (layer >= 0 && graph.layers[static_cast<std::size_t>(layer)].damaged) return;
    if (layer < 0) return diagnostics.add(std::move(d));
    report(diagnostics, model, graph.layers[static_cast<std::size_t>(layer)], std::move(d));
  };
  for (const auto& edge : graph.edges) {
    const auto from = index.find(edge.from_layer), to = index.find(edge.to_layer);
    const int source = from == index.end() ? -1 : from->second, target = to == index.end() ? -1 : to->second;
    if (source < 0) say(target, fault(Code::E0202, fmt::format("the edge comes from layer {}, which does not exist", edge.from_layer), edge.at), loose().output());
    if (target < 0) {
      say(source, fault(Code::E0202, fmt::format("the edge leads to layer {}, which does not exist", edge.to_layer), edge.at), loose().input());
      continue;
    }
    const auto& layer = graph.layers[static_cast<std::size_t>(target)];
    const auto input = input_position(layer, edge.to_port);
    if (input < 0) {
      say(target, fault(Code::E0203, fmt::format("the edge leads to input port {} of layer {} \"{}\", which has {}", edge.to_port, layer.id, layer.name, ids_of(layer.inputs)), edge.at),
          loose().input(&layer));
      continue;
    }
    auto& fed_by = edges[static_cast<std::size_t>(target)][static_cast<std::size_t>(input)];
    if (fed_by) {
      auto d = fault(Code::E0204, fmt::format("input port {} of layer {} \"{}\" is fed by two edges", edge.to_port, layer.id, layer.name), edge.at);
      d.notes.push_back({"the other edge", fed_by->at, "", ""});
      say(target, std::move(d), loose().input(&layer));
      continue;
    }
    fed_by = &edge;
    if (source < 0) continue;
    const auto& producer = graph.layers[static_cast<std::size_t>(source)];
    const auto output = output_position(producer, edge.from_port);
    if (output < 0)
      say(target, fault(Code::E0203, fmt::format("the edge comes from output port {} of layer {} \"{}\", which has {}", edge.from_port, producer.id, producer.name, ids_of(producer.outputs)), edge.at),
          producer.outputs.size() == 1 ? std::vector<Remedy>{tag({{"from-port", producer.outputs.front().id}})} : loose().output(&producer));
    else
      inputs[static_cast<std::size_t>(target)][static_cast<std::size_t>(input)] = {source, output};
  }
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    for (std::size_t p = 0; p < inputs[i].size(); ++p)
      if (!edges[i][p]) {
        const auto& port = graph.layers[i].inputs[p];
        auto d = fault(Code::E0205, fmt::format("no edge leads to input port {} of layer {} \"{}\"", port.id, graph.layers[i].id, graph.layers[i].name), port.at);
        d.port = PortRef{true, static_cast<std::int64_t>(p), port.id, {}};
        say(static_cast<int>(i), std::move(d));
      }
  return inputs;
}

std::vector<int> topological_order(const Model& model, const std::vector<std::vector<ValueRef>>& inputs, std::vector<bool>& faulty, Diagnostics& diagnostics) {
  const auto count = inputs.size();
  std::vector<std::vector<int>> users(count);
  std::vector<int> waiting(count, 0);
  for (std::size_t i = 0; i < count; ++i)
    for (const auto& v : inputs[i])
      if (v.node >= 0) {
        users[static_cast<std::size_t>(v.node)].push_back(static_cast<int>(i));
        ++waiting[i];
      }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i)
    if (waiting[i] == 0) ready.push(static_cast<int>(i));
  std::vector<int> order;
  order.reserve(count);
  while (!ready.empty()) {
    const auto at = ready.top();
    ready.pop();
    order.push_back(at);
    for (const auto user : users[static_cast<std::size_t>(at)])
      if (--waiting[static_cast<std::size_t>(user)] == 0) ready.push(user);
  }
  if (order.size() == count) return order;

  // Walk against the edges from a layer that was left: among those left, that must run into a cycle.
  const auto& layers = model.graph->layers;
  std::vector<int> seen_at(count, -1), walk;
  auto at = static_cast<std::size_t>(std::find_if(waiting.begin(), waiting.end(), [](int n) { return n > 0; }) - waiting.begin());
  while (seen_at[at] < 0) {
    seen_at[at] = static_cast<int>(walk.size());
    walk.push_back(static_cast<int>(at));
    for (const auto& v : inputs[at])
      if (v.node >= 0 && waiting[static_cast<std::size_t>(v.node)] > 0) {
        at = static_cast<std::size_t>(v.node);
        break;
      }
  }
  std::vector<int> cycle(walk.begin() + seen_at[at], walk.end());
  std::reverse(cycle.begin(), cycle.end());
  std::string path;
  for (std::size_t i = 0; i < cycle.size() && i < 8; ++i) path += fmt::format("\"{}\" -> ", layers[static_cast<std::size_t>(cycle[i])].name);
  if (cycle.size() > 8) path += fmt::format("{} more -> ", cycle.size() - 8);
  const auto& first = layers[static_cast<std::size_t>(cycle.front())];
  report(diagnostics, model, first, fault(Code::E0206, fmt::format("layers feed each other in a cycle: {}\"{}\"", path, first.name), first.at));
  for (std::size_t i = 0; i < count; ++i)
    if (waiting[i] > 0) {
      order.push_back(static_cast<int>(i));
      faulty[i] = true;
    }
  return order;
}

void warn_unreachable(const Model& model, Diagnostics& diagnostics) {
  std::vector<bool> used(model.nodes.size(), false);
  for (std::size_t i = model.nodes.size(); i-- > 0;) {
    const auto kind = model.nodes[i].op->kind;
    used[i] = used[i] || kind == Kind::result || kind == Kind::assign || kind == Kind::parameter;
    if (used[i])
      for (const auto& v : model.nodes[i].inputs)
        if (v.node >= 0) used[static_cast<std::size_t>(v.node)] = true;
  }
  const auto loose = static_cast<std::size_t>(std::count(used.begin(), used.end(), false));
  if (loose == 0) return;
  const auto first = static_cast<std::size_t>(std::find(used.begin(), used.end(), false) - used.begin());
  auto d = fault(Code::W0904, loose == 1 ? "no result depends on this layer" : fmt::format("no result depends on this layer, nor on {} more", loose - 1), {});
  d.severity = Severity::warning;
  report(diagnostics, model, *model.nodes[first].layer, std::move(d));
}

}  // namespace ovir::passes
