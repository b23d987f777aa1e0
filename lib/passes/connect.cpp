// connect: edges from ids to positions.
#include "passes/connect.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "base/word_list.hpp"
#include "model/report.hpp"

namespace ovir::passes {

namespace {

int position(const std::vector<Port>& ports, i64 id) {
  // Nearly always they are numbered one after the other.
  if (!ports.empty() && id >= ports.front().id)
    if (const auto guess = static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(ports.front().id);
        guess < ports.size() && ports[guess].id == id)
      return static_cast<int>(guess);
  const auto found = std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.id == id; });
  return found == ports.end() ? -1 : static_cast<int>(found - ports.begin());
}

}  // namespace

int input_position(const Layer& layer, i64 port_id) { return position(layer.inputs, port_id); }
int output_position(const Layer& layer, i64 port_id) { return position(layer.outputs, port_id); }

std::string ids_of(const std::vector<Port>& ports, std::string_view kind) {
  if (ports.empty()) return fmt::format("which has no {} ports", kind);
  if (ports.size() == 1) return fmt::format("whose only {} port is {}", kind, ports.front().id);
  std::vector<std::string> ids;
  for (const auto& port : ports) ids.push_back(std::to_string(port.id));
  return fmt::format("whose {} ports are {}", kind, word_list(std::move(ids), "and", 8));
}

namespace {

Remedy tag(const std::vector<std::pair<std::string, i64>>& attributes) {
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
  const std::set<i64>& unknown_layers() const { return unknown_layers_; }
  /// The ids of input ports of `layer` that edges name and it does not have, the first of them.
  std::vector<i64> unknown_inputs(const Layer& layer) const {
    std::vector<i64> ids;
    for (auto it = unknown_inputs_.lower_bound({layer.id, INT64_MIN});
         it != unknown_inputs_.end() && it->first == layer.id && ids.size() < 8; ++it)
      ids.push_back(it->second);
    return ids;
  }

 private:
  using Ends = std::set<std::pair<i64, i64>>;
  std::set<i64> layers_, unknown_layers_;
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
  constexpr std::size_t kMaxEnds =
      64;  // where so much is loose, nothing can be told, and every faulty edge would look at it all
  if (ends.size() > kMaxEnds) return {};
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
    d.notes.push_back({fmt::format("input port {} of {} has no edge", ends[i].port->id, describe(*ends[i].layer)),
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
  std::unordered_map<i64, int> index_;
  std::vector<std::vector<ValueRef>> inputs_;
  std::vector<std::vector<const Edge*>> feeding_;
  std::vector<std::size_t> misled_;  ///< per layer: faulty edges that were meant for some input of it
  std::vector<bool> doubled_;        ///< per layer: an id of it or of a port of it occurs twice
  std::size_t strays_ = 0;           ///< edges to layers that do not exist
  bool renamed_ = false;             ///< a layer id is taken twice, and edges name one that no layer has
  std::optional<Loose> known_loose_;

  /// Only where it is asked for: nearly every model has no such fault.
  const Loose& loose() { return known_loose_ ? *known_loose_ : known_loose_.emplace(graph_); }
  const Layer& layer(int i) const { return graph_.layers[i]; }

  void say(int at, Diagnostic d, std::vector<Remedy> remedies = {}) {
    d.remedies = std::move(remedies);
    if (at >= 0) faulty_[at] = true;
    // What seems to be missing may be what could not be read, and that was said.
    if (graph_.damaged && (d.code == Code::E0202 || d.code == Code::E0205)) return;
    if (at >= 0 && layer(at).damaged) return;
    if (at < 0) return diagnostics_.add(std::move(d));
    report(diagnostics_, model_, layer(at), std::move(d));
  }

  void index_layers() {
    std::vector<std::pair<int, int>> twice;
    for (int i = 0; i < std::ssize(graph_.layers); ++i) {
      const auto [first, fresh] = index_.emplace(graph_.layers[i].id, i);
      if (!fresh) twice.emplace_back(i, first->second);
      for (const auto* ports : {&graph_.layers[i].inputs, &graph_.layers[i].outputs}) require_distinct(i, *ports);
    }
    renamed_ = twice.size() == 1 && loose().unknown_layers().size() == 1;
    for (const auto& [second, first] : twice) {
      doubled_[second] = true;
      const auto& other = layer(first);
      auto d = diagnose(Code::E0201,
                        fmt::format("layer id {} is used twice, by \"{}\" and \"{}\"", other.id, printable(other.name),
                                    printable(layer(second).name)),
                        value_in_tag(layer(second).at, "id"));
      d.notes.push_back({"the first layer with this id", other.at, "", ""});
      std::vector<Remedy> remedies;
      if (renamed_) {
        const auto id = std::to_string(*loose().unknown_layers().begin());
        d.notes.push_back(
            {fmt::format("edges name layer {}, which does not exist: it is probably one of the two", id), {}, "", ""});
        remedies.push_back({{Change::What::layer_attribute, "id", id}});
      }
      say(second, std::move(d), std::move(remedies));
    }
  }

  void require_distinct(int at, const std::vector<Port>& ports) {
    std::unordered_map<i64, const Port*> seen;
    const bool inputs = &ports == &layer(at).inputs;
    int told = 0;
    for (const auto& port : ports) {
      const auto [first, fresh] = seen.emplace(port.id, &port);
      if (fresh) continue;
      doubled_[at] = true;
      if (++told > 8) break;
      auto d = diagnose(
          Code::E0207,
          fmt::format("two {} ports of {} have the id {}", inputs ? "input" : "output", describe(layer(at)), port.id),
          value_in_tag(port.at, "id"));
      d.notes.push_back({"the first port with this id", first->second->at, "", ""});
      std::vector<Remedy> remedies;
      if (const auto ids = inputs ? loose().unknown_inputs(layer(at)) : std::vector<i64>{}; ids.size() <= 4)
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
            diagnose(Code::E0202, fmt::format("the edge comes from layer {}, which does not exist", edge.from_layer),
                     value_in_tag(edge.at, "from-layer")),
            only(loose().unread(), "from", true, target < 0 ? nullptr : input_port(layer(target), edge.to_port)));
      else if (target >= 0) faulty_[target] = true;
    }
    if (target < 0) {
      if (renamed_) return;
      ++strays_;
      auto d = diagnose(Code::E0202, fmt::format("the edge leads to layer {}, which does not exist", edge.to_layer),
                        value_in_tag(edge.at, "to-layer"));
      note_unfed(d, loose().unfed());
      return say(source, std::move(d), only(loose().unfed(), "to", true, source_port(edge)));
    }
    if (doubled_[target] && misled_[target] > 64)
      return;  // nothing of it will be judged, and to look for every port takes long
    const auto& consumer = layer(target);
    const auto input = input_position(consumer, edge.to_port);
    if (input < 0) {
      const bool repeats = doubled_[target] || (consumer.inputs.empty() && misled_[target] > 0);
      ++misled_[target];
      if (repeats) return;
      auto d = diagnose(Code::E0203,
                        fmt::format("the edge leads to input port {} of {}, {}", edge.to_port, describe(consumer),
                                    ids_of(consumer.inputs, "input")),
                        value_in_tag(edge.at, "to-port"));
      note_unfed(d, loose().unfed(consumer));
      return say(target, std::move(d), only(loose().unfed(consumer), "to", false, source_port(edge)));
    }
    auto& fed_by = feeding_[target][input];
    if (fed_by) {
      ++misled_[target];
      return fed_twice(target, consumer.inputs[input], *fed_by, edge);
    }
    fed_by = &edge;
    if (source < 0) return;
    const auto& producer = layer(source);
    const auto output = output_position(producer, edge.from_port);
    if (output >= 0) {
      inputs_[target][input] = {source, output};
      return;
    }
    const bool repeats = producer.outputs.empty() && faulty_[source];
    faulty_[target] = true;
    if (repeats || producer.damaged) return;
    auto d = diagnose(Code::E0203,
                      fmt::format("the edge comes from output port {} of {}, {}", edge.from_port, describe(producer),
                                  ids_of(producer.outputs, "output")),
                      value_in_tag(edge.at, "from-port"));
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
    auto d =
        diagnose(Code::E0204, fmt::format("input port {} of {} is fed by two edges", port.id, describe(layer(target))),
                 wrong->at);
    d.notes.push_back({"the other edge", right->at, "", ""});
    note_unfed(d, unfed);
    say(target, std::move(d), std::move(remedies));
  }

  static const Port* input_port(const Layer& layer, i64 id) {
    const auto at = input_position(layer, id);
    return at < 0 ? nullptr : &layer.inputs[at];
  }
  const Port* source_port(const Edge& edge) const {
    const auto from = index_.find(edge.from_layer);
    if (from == index_.end()) return nullptr;
    const auto at = output_position(layer(from->second), edge.from_port);
    return at < 0 ? nullptr : &layer(from->second).outputs[at];
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
    auto d = diagnose(Code::E0205, fmt::format("input port {} of {} has no edge", port.id, describe(graph_.layers[i])),
                      port.at);
    d.port = PortRef{true, static_cast<i64>(p), port.id, {}};
    say(static_cast<int>(i), std::move(d));
  }
};

}  // namespace

SourceLoc value_in_tag(const SourceLoc& tag, std::string_view attribute) {
  if (!tag) return tag;
  const auto text = tag.file->text.substr(tag.offset);
  constexpr std::string_view blank = " \t\r\n";
  // Name by name, over the quoted values.
  auto at = text.find_first_of(blank);
  while (at != text.npos) {
    at = text.find_first_not_of(blank, at);
    const auto equals = text.find('=', std::min(at, text.size())),
               quote = text.find_first_of("\"'", std::min(equals, text.size()));
    if (quote == text.npos || text.find('>', at) < quote) return tag;
    const auto end = text.find(text[quote], quote + 1);
    if (end == text.npos) return tag;
    if (trim(text.substr(at, equals - at)) == attribute)
      return {tag.file, tag.offset + quote + 1, std::max<std::size_t>(end - quote - 1, 1)};
    at = end + 1;
  }
  return tag;
}

std::vector<std::vector<ValueRef>> connect(const Model& model, std::vector<bool>& faulty, Diagnostics& diagnostics) {
  return Connector(model, faulty, diagnostics).run();
}

}  // namespace ovir::passes
