// connect: edges from ids to positions; the topological order.
#include <algorithm>
#include <optional>
#include <queue>
#include <set>

#include "base/text.hpp"
#include "passes/detail.hpp"

namespace ovir::passes {

namespace {

int position(const std::vector<Port>& ports, std::int64_t id) {
  // Nearly always they are numbered one after the other.
  if (!ports.empty() && id >= ports.front().id)
    if (const auto guess = static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(ports.front().id);
        guess < ports.size() && ports[guess].id == id)
      return static_cast<int>(guess);
  const auto found = std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.id == id; });
  return found == ports.end() ? -1 : static_cast<int>(found - ports.begin());
}

}  // namespace

int input_position(const Layer& layer, std::int64_t port_id) { return position(layer.inputs, port_id); }
int output_position(const Layer& layer, std::int64_t port_id) { return position(layer.outputs, port_id); }

std::string ids_of(const std::vector<Port>& ports, std::string_view kind) {
  if (ports.empty()) return fmt::format("which has no {} ports", kind);
  if (ports.size() == 1) return fmt::format("whose only {} port is {}", kind, ports.front().id);
  std::string text;
  for (std::size_t i = 0; i < ports.size() && i < 8; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == ports.size() ? " and " : ", ", ports[i].id);
  return fmt::format("whose {} ports are {}{}", kind, text,
                     ports.size() > 8 ? fmt::format(" and {} more", ports.size() - 8) : "");
}

namespace {

Diagnostic fault(Code code, std::string message, SourceLoc at) {
  Diagnostic d;
  d.code = code;
  d.message = std::move(message);
  d.at = std::move(at);
  return d;
}

/// "layer 3 "relu"".
Remedy tag(const std::vector<std::pair<std::string, std::int64_t>>& attributes) {
  Remedy remedy;
  for (const auto& [name, value] : attributes)
    remedy.push_back({Change::What::tag_attribute, name, std::to_string(value)});
  return remedy;
}

/// What no edge leads to or comes from. A faulty edge was perhaps meant for it.
class Loose {
 public:
  struct End {
    const Layer* layer;
    const Port* port;
  };

  explicit Loose(const Graph& g) {
    for (const auto& layer : g.layers) {
      layers_.insert(layer.id);
      for (const auto& port : layer.inputs) inputs_.emplace(layer.id, port.id);
    }
    for (const auto& edge : g.edges) {
      fed_.emplace(edge.to_layer, edge.to_port);
      read_.emplace(edge.from_layer, edge.from_port);
      for (const auto id : {edge.from_layer, edge.to_layer})
        if (!layers_.contains(id)) unknown_layers_.insert(id);
      if (!inputs_.contains({edge.to_layer, edge.to_port})) unknown_inputs_.emplace(edge.to_layer, edge.to_port);
    }
    for (const auto& layer : g.layers) {
      collect(layer, layer.inputs, fed_, unfed_);
      collect(layer, layer.outputs, read_, unread_);
    }
  }

  const std::vector<End>& unfed() const { return unfed_; }
  const std::vector<End>& unread() const { return unread_; }
  std::vector<End> unfed(const Layer& layer) const { return of(layer, layer.inputs, fed_); }
  std::vector<End> unread(const Layer& layer) const { return of(layer, layer.outputs, read_); }
  /// The layer ids that edges name and no layer has.
  const std::set<std::int64_t>& unknown_layers() const { return unknown_layers_; }
  /// The ids of input ports of `layer` that edges name and it does not have, the first of them.
  std::vector<std::int64_t> unknown_inputs(const Layer& layer) const {
    std::vector<std::int64_t> ids;
    for (auto it = unknown_inputs_.lower_bound({layer.id, INT64_MIN});
         it != unknown_inputs_.end() && it->first == layer.id && ids.size() < 8; ++it)
      ids.push_back(it->second);
    return ids;
  }

 private:
  using Ends = std::set<std::pair<std::int64_t, std::int64_t>>;
  std::set<std::int64_t> layers_, unknown_layers_;
  Ends inputs_, fed_, read_, unknown_inputs_;
  std::vector<End> unfed_, unread_;

  static void collect(const Layer& layer, const std::vector<Port>& ports, const Ends& used, std::vector<End>& ends) {
    for (const auto& port : ports)
      if (!used.contains({layer.id, port.id})) ends.push_back({&layer, &port});
  }
  static std::vector<End> of(const Layer& layer, const std::vector<Port>& ports, const Ends& used) {
    std::vector<End> ends;
    collect(layer, ports, used, ends);
    return ends;
  }
};

/// What the two ports declare does not contradict. Null: nothing is known of that end.
bool fit(const Port* from, const Port* to) {
  if (!from || !to) return true;
  const bool types = !from->declared_type || !to->declared_type || *from->declared_type == *to->declared_type;
  return types &&
         (!from->declared_shape || !to->declared_shape || from->declared_shape->compatible(*to->declared_shape));
}

/// The one end that a faulty edge may have been meant for, by what its `other` end declares; nothing where there are
/// several.
std::vector<Remedy> only(const std::vector<Loose::End>& ends, const std::string& word, bool with_layer,
                         const Port* other = nullptr) {
  constexpr std::size_t kMostEnds =
      64;  // where so much is loose, nothing can be told, and every faulty edge would look at it all
  if (ends.size() > kMostEnds) return {};
  const Loose::End* found = nullptr;
  for (const auto& end : ends) {
    if (ends.size() > 1 && !fit(end.port, other)) continue;
    if (found) return {};
    found = &end;
  }
  if (!found) return {};
  return {with_layer ? tag({{word + "-layer", found->layer->id}, {word + "-port", found->port->id}})
                     : tag({{word + "-port", found->port->id}})};
}

void note_unfed(Diagnostic& d, const std::vector<Loose::End>& ends) {
  for (std::size_t i = 0; i < ends.size() && i < 3; ++i)
    d.notes.push_back({fmt::format("no edge leads to input port {} of {}", ends[i].port->id, describe(*ends[i].layer)),
                       ends[i].port->at, "", ""});
}

class Connector {
 public:
  Connector(const Model& m, std::vector<bool>& f, Diagnostics& d)
      : model_(m), graph_(*m.graph), faulty_(f), diagnostics_(d), misled_(f.size(), 0), doubled_(f.size(), false) {}

  std::vector<std::vector<ValueRef>> run() {
    for (const auto& layer : graph_.layers) {
      inputs_.emplace_back(layer.inputs.size());
      feeding_.emplace_back(layer.inputs.size(), nullptr);
    }
    index_layers();
    for (const auto& edge : graph_.edges) join(edge);
    for (std::size_t i = 0; i < graph_.layers.size(); ++i)
      for (std::size_t p = 0; p < inputs_[i].size(); ++p)
        if (!feeding_[i][p]) unfed(i, p);
    return std::move(inputs_);
  }

 private:
  const Model& model_;
  const Graph& graph_;
  std::vector<bool>& faulty_;
  Diagnostics& diagnostics_;
  std::unordered_map<std::int64_t, int> index_;
  std::vector<std::vector<ValueRef>> inputs_;
  std::vector<std::vector<const Edge*>> feeding_;
  std::vector<std::size_t> misled_;  ///< per layer: faulty edges that were meant for some input of it
  std::vector<bool> doubled_;        ///< per layer: an id of it or of a port of it occurs twice
  std::size_t strays_ = 0;           ///< edges to layers that do not exist
  bool renamed_ = false;             ///< a layer id is taken twice, and edges name one that no layer has
  std::optional<Loose> known_loose_;

  /// Only where it is asked for: nearly every model has no such fault.
  const Loose& loose() { return known_loose_ ? *known_loose_ : known_loose_.emplace(graph_); }
  const Layer& layer(int i) const { return graph_.layers[static_cast<std::size_t>(i)]; }

  void say(int at, Diagnostic d, std::vector<Remedy> remedies = {}) {
    d.remedies = std::move(remedies);
    if (at >= 0) faulty_[static_cast<std::size_t>(at)] = true;
    // What seems to be missing may be what could not be read, and that was said.
    if (graph_.damaged && (d.code == Code::E0202 || d.code == Code::E0205)) return;
    if (at >= 0 && layer(at).damaged) return;
    if (at < 0) return diagnostics_.add(std::move(d));
    report(diagnostics_, model_, layer(at), std::move(d));
  }

  void index_layers() {
    std::vector<std::pair<int, int>> twice;
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
      const auto [first, fresh] = index_.emplace(graph_.layers[i].id, static_cast<int>(i));
      if (!fresh) twice.emplace_back(static_cast<int>(i), first->second);
      for (const auto* ports : {&graph_.layers[i].inputs, &graph_.layers[i].outputs})
        require_distinct(static_cast<int>(i), *ports);
    }
    renamed_ = twice.size() == 1 && loose().unknown_layers().size() == 1;
    for (const auto& [second, first] : twice) {
      doubled_[static_cast<std::size_t>(second)] = true;
      const auto& other = layer(first);
      auto d = fault(Code::E0201,
                     fmt::format("layer id {} is taken twice: by \"{}\" and by \"{}\"", other.id, printable(other.name),
                                 printable(layer(second).name)),
                     layer(second).at);
      d.notes.push_back({"the first layer with this id", other.at, "", ""});
      std::vector<Remedy> remedies;
      if (renamed_) {
        const auto id = std::to_string(*loose().unknown_layers().begin());
        d.notes.push_back(
            {fmt::format("edges name layer {}, which does not exist: it is one of the two, perhaps", id), {}, "", ""});
        remedies.push_back({{Change::What::layer_attribute, "id", id}});
      }
      say(second, std::move(d), std::move(remedies));
    }
  }

  void require_distinct(int at, const std::vector<Port>& ports) {
    std::unordered_map<std::int64_t, const Port*> seen;
    const bool inputs = &ports == &layer(at).inputs;
    int told = 0;
    for (const auto& port : ports) {
      const auto [first, fresh] = seen.emplace(port.id, &port);
      if (fresh) continue;
      doubled_[static_cast<std::size_t>(at)] = true;
      if (++told > 8) break;
      auto d = fault(
          Code::E0207,
          fmt::format("two {} ports of {} have the id {}", inputs ? "input" : "output", describe(layer(at)), port.id),
          port.at);
      d.notes.push_back({"the first port with this id", first->second->at, "", ""});
      std::vector<Remedy> remedies;
      if (const auto ids = inputs ? loose().unknown_inputs(layer(at)) : std::vector<std::int64_t>{}; ids.size() <= 4)
        for (const auto id : ids) remedies.push_back(tag({{"id", id}}));
      say(at, std::move(d), std::move(remedies));
    }
  }

  void join(const Edge& edge) {
    const auto from = index_.find(edge.from_layer), to = index_.find(edge.to_layer);
    const int source = from == index_.end() ? -1 : from->second, target = to == index_.end() ? -1 : to->second;
    if (source < 0) {
      if (!renamed_)
        say(target,
            fault(Code::E0202, fmt::format("the edge comes from layer {}, which does not exist", edge.from_layer),
                  edge.at),
            only(loose().unread(), "from", true, target < 0 ? nullptr : input_port(layer(target), edge.to_port)));
      else if (target >= 0) faulty_[static_cast<std::size_t>(target)] = true;
    }
    if (target < 0) {
      if (renamed_) return;
      ++strays_;
      auto d =
          fault(Code::E0202, fmt::format("the edge leads to layer {}, which does not exist", edge.to_layer), edge.at);
      note_unfed(d, loose().unfed());
      return say(source, std::move(d), only(loose().unfed(), "to", true, source_port(edge)));
    }
    const auto t = static_cast<std::size_t>(target);
    if (doubled_[t] && misled_[t] > 64) return;  // nothing of it will be judged, and to look for every port takes long
    const auto& consumer = layer(target);
    const auto input = input_position(consumer, edge.to_port);
    if (input < 0) {
      const bool repeats = doubled_[t] || (consumer.inputs.empty() && misled_[t] > 0);
      ++misled_[t];
      if (repeats) return;
      auto d = fault(Code::E0203,
                     fmt::format("the edge leads to input port {} of {}, {}", edge.to_port, describe(consumer),
                                 ids_of(consumer.inputs, "input")),
                     edge.at);
      note_unfed(d, loose().unfed(consumer));
      return say(target, std::move(d), only(loose().unfed(consumer), "to", false, source_port(edge)));
    }
    auto& fed_by = feeding_[t][static_cast<std::size_t>(input)];
    if (fed_by) {
      ++misled_[t];
      return fed_twice(target, consumer.inputs[static_cast<std::size_t>(input)], *fed_by, edge);
    }
    fed_by = &edge;
    if (source < 0) return;
    const auto& producer = layer(source);
    const auto output = output_position(producer, edge.from_port);
    if (output >= 0) {
      inputs_[t][static_cast<std::size_t>(input)] = {source, output};
      return;
    }
    const bool repeats = producer.outputs.empty() && faulty_[static_cast<std::size_t>(source)];
    faulty_[t] = true;
    if (repeats || producer.damaged) return;
    auto d = fault(Code::E0203,
                   fmt::format("the edge comes from output port {} of {}, {}", edge.from_port, describe(producer),
                               ids_of(producer.outputs, "output")),
                   edge.at);
    auto remedies = producer.outputs.size() == 1
                        ? std::vector<Remedy>{tag({{"from-port", producer.outputs.front().id}})}
                        : only(loose().unread(producer), "from", false);
    say(producer.outputs.empty() ? source : target, std::move(d), std::move(remedies));
  }

  /// One of the two edges was meant for another input. Where one input is without an edge, what the ports declare may
  /// tell which of the two that is.
  void fed_twice(int target, const Port& port, const Edge& first, const Edge& second) {
    const auto unfed = loose().unfed(layer(target));
    const auto *wrong = &second, *right = &first;
    std::vector<Remedy> remedies;
    if (unfed.size() == 1) {
      const auto fits = [&](const Edge& here, const Edge& there) {
        return fit(source_port(here), &port) && fit(source_port(there), unfed.front().port);
      };
      const bool in_order = fits(first, second), exchanged = fits(second, first);
      if (in_order != exchanged) remedies = only(unfed, "to", false);
      if (exchanged && !in_order) std::swap(wrong, right);
    }
    auto d = fault(Code::E0204,
                   fmt::format("input port {} of {} is fed by two edges", port.id, describe(layer(target))), wrong->at);
    d.notes.push_back({"the other edge", right->at, "", ""});
    note_unfed(d, unfed);
    say(target, std::move(d), std::move(remedies));
  }

  static const Port* input_port(const Layer& layer, std::int64_t id) {
    const auto at = input_position(layer, id);
    return at < 0 ? nullptr : &layer.inputs[static_cast<std::size_t>(at)];
  }
  const Port* source_port(const Edge& edge) const {
    const auto from = index_.find(edge.from_layer);
    if (from == index_.end()) return nullptr;
    const auto at = output_position(layer(from->second), edge.from_port);
    return at < 0 ? nullptr : &layer(from->second).outputs[static_cast<std::size_t>(at)];
  }

  /// An input that no edge leads to, unless that follows from a fault that was reported.
  void unfed(std::size_t i, std::size_t p) {
    faulty_[i] = true;
    if (doubled_[i]) return;
    if (auto& edges = misled_[i] > 0 ? misled_[i] : strays_; edges > 0) {
      --edges;
      return;
    }
    const auto& port = graph_.layers[i].inputs[p];
    auto d = fault(Code::E0205,
                   fmt::format("no edge leads to input port {} of {}", port.id, describe(graph_.layers[i])), port.at);
    d.port = PortRef{true, static_cast<std::int64_t>(p), port.id, {}};
    say(static_cast<int>(i), std::move(d));
  }
};

/// One note an edge of the cycle: its place is where to look.
void note_cycle(Diagnostic& d, const Graph& graph, const std::vector<int>& cycle) {
  const auto layer = [&](std::size_t k) -> const Layer& {
    return graph.layers[static_cast<std::size_t>(cycle[k % cycle.size()])];
  };
  for (std::size_t k = 0; k < cycle.size() && k < 8; ++k) {
    const auto &from = layer(k), &to = layer(k + 1);
    const auto edge = std::find_if(graph.edges.begin(), graph.edges.end(),
                                   [&](const Edge& e) { return e.from_layer == from.id && e.to_layer == to.id; });
    if (edge != graph.edges.end())
      d.notes.push_back({fmt::format("{} feeds {}", describe(from), describe(to)), edge->at, "", ""});
  }
}

}  // namespace

std::vector<std::vector<ValueRef>> connect(const Model& model, std::vector<bool>& faulty, Diagnostics& diagnostics) {
  return Connector(model, faulty, diagnostics).run();
}

namespace {

/// Layers with all that they wait for before them; fewer than there are where some wait for each other.
std::vector<int> sort(const std::vector<std::vector<ValueRef>>& inputs, const std::vector<std::pair<int, int>>& before,
                      std::vector<int>& waiting) {
  const auto count = inputs.size();
  std::vector<std::vector<int>> users(count);
  waiting.assign(count, 0);
  const auto wait = [&](int first, int second) {
    users[static_cast<std::size_t>(first)].push_back(second);
    ++waiting[static_cast<std::size_t>(second)];
  };
  for (std::size_t i = 0; i < count; ++i)
    for (const auto& v : inputs[i])
      if (v.node >= 0) wait(v.node, static_cast<int>(i));
  for (const auto& [first, second] : before) wait(first, second);
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
  return order;
}

}  // namespace

std::vector<int> topological_order(const Model& model, const std::vector<std::vector<ValueRef>>& inputs,
                                   const std::vector<std::pair<int, int>>& before, std::vector<bool>& faulty,
                                   Diagnostics& diagnostics) {
  const auto count = inputs.size();
  std::vector<int> waiting;
  auto order = sort(inputs, before, waiting);
  if (order.size() == count) return order;
  if (!before.empty()) {
    const auto stuck = waiting;
    order = sort(inputs, {}, waiting);
    if (order.size() == count) {
      const auto left = [&](int i) { return stuck[static_cast<std::size_t>(i)] > 0; };
      for (const auto& [read, write] : before)
        if (left(read) && left(write))
          report_early_write(diagnostics, model, model.graph->layers[static_cast<std::size_t>(read)],
                             model.graph->layers[static_cast<std::size_t>(write)]);
      return order;
    }
  }

  // Walk against the edges from a layer that was left: among those left, that must run into a cycle.
  const auto& layers = model.graph->layers;
  std::vector<int> seen_at(count, -1), walk;
  auto at = static_cast<std::size_t>(std::find_if(waiting.begin(), waiting.end(), [](int n) { return n > 0; }) -
                                     waiting.begin());
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
  for (std::size_t i = 0; i < cycle.size() && i < 8; ++i)
    path += fmt::format("\"{}\" -> ", printable(layers[static_cast<std::size_t>(cycle[i])].name));
  if (cycle.size() > 8) path += fmt::format("{} more -> ", cycle.size() - 8);
  const auto& first = layers[static_cast<std::size_t>(cycle.front())];
  auto d = fault(
      Code::E0206,
      fmt::format("{}: {}\"{}\"", cycle.size() == 1 ? "a layer feeds itself" : "layers feed each other in a cycle",
                  path, printable(first.name)),
      first.at);
  note_cycle(d, *model.graph, cycle);
  report(diagnostics, model, first, std::move(d));
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
  if (std::none_of(model.nodes.begin(), model.nodes.end(),
                   [](const Node& node) { return node.op->kind == Kind::result || node.op->kind == Kind::assign; })) {
    // Then nothing is used: one cause, not a warning for every layer.
    Diagnostic d;
    d.code = Code::W0905;
    d.severity = Severity::warning;
    d.message = model.nodes.empty() ? "the model has no layers" : "the model has no Result layer: it computes nothing";
    const auto net = model.graph->source->text.find("<net");
    if (net != std::string_view::npos) d.at = {model.graph->source, net, 4};
    diagnostics.add(std::move(d));
    return;
  }
  std::vector<const Layer*> loose;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (!used[i]) loose.push_back(model.nodes[i].layer);
  if (loose.empty()) return;
  std::sort(loose.begin(), loose.end());  // they lie in Graph::layers in file order
  constexpr std::size_t named = 8;
  auto d = fault(Code::W0904, "no result depends on this layer", {});
  if (loose.size() > 1) d.message += fmt::format(", nor on {} more", loose.size() - 1);
  d.severity = Severity::warning;
  for (std::size_t i = 1; i < loose.size() && i <= named; ++i)
    d.notes.push_back(
        {fmt::format("nor on {} ({})", describe(*loose[i]), printable(loose[i]->type)), loose[i]->at, "", ""});
  if (loose.size() > named + 1)
    d.notes.push_back({fmt::format("nor on {} behind these", counted(loose.size() - named - 1, "layer")), {}, "", ""});
  report(diagnostics, model, *loose[0], std::move(d));
}

}  // namespace ovir::passes
