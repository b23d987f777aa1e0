// map_body: a body's port map and back edges from ids to positions.
#include "passes/bodies.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/word_list.hpp"
#include "model/report.hpp"
#include "passes/connect.hpp"

namespace ovir::passes {
namespace {

std::string named(const Layer& layer) { return fmt::format("{} \"{}\"", layer.id, printable(layer.name)); }

Remedy tag(std::string name, i64 value) {
  return {{Change::What::tag_attribute, std::move(name), std::to_string(value)}};
}

/// One body of one layer. Every faulty entry is reported and left out.
class Mapper {
 public:
  Mapper(const Model& m, const Layer& o, const Body& b, const Model& i, Diagnostics& d)
      : model_(m), outer_(o), body_(b), inner_(i), diagnostics_(d) {}

  std::optional<BodyMap> run() {
    map_.role = body_.role;
    map_.parameter_count = static_cast<int>(inner_.parameters.size());
    map_.result_count = static_cast<int>(inner_.results.size());
    fed_.assign(inner_.parameters.size(), nullptr);
    fed_back_.assign(inner_.parameters.size(), nullptr);
    given_.assign(outer_.outputs.size(), nullptr);
    numbers_ = output_numbers();
    for (const auto& entry : body_.port_map) add(entry);
    for (const auto& edge : body_.back_edges) add(edge);
    for (std::size_t k = 0; k < fed_.size() && good_; ++k)
      if (!fed_[k])
        say(outer_.at,
            fmt::format("Parameter {} of the {} is not fed by the port map or a back edge", named(parameter(k)),
                        body_.role),
            {}, Note{"the Parameter", parameter(k).at, "", ""});
    for (std::size_t o = 0; o < given_.size() && good_; ++o)
      if (!given_[o])
        say(outer_.outputs[o].at,
            fmt::format("the port map of the {} does not mention output port {}", body_.role, outer_.outputs[o].id));
    return good_ ? std::optional(std::move(map_)) : std::nullopt;
  }

 private:
  const Model& model_;
  const Layer& outer_;
  const Body& body_;
  const Model& inner_;
  Diagnostics& diagnostics_;
  BodyMap map_;
  bool good_ = true;
  std::vector<i64> numbers_;                 ///< see output_numbers
  std::vector<const PortMap*> fed_, given_;  ///< by Parameter, by output port: the entry
  std::vector<const BackEdge*> fed_back_;    ///< by Parameter

  const Layer& parameter(std::size_t k) const { return *inner_[inner_.parameters[k]].layer; }

  bool names(i64 inner) const {
    return std::any_of(body_.port_map.begin(), body_.port_map.end(),
                       [&](const PortMap& e) { return e.internal_layer == inner; });
  }
  /// Whether a back edge may lead to this Parameter: it receives no slices, and no other back edge leads to it.
  bool takes_state(i64 inner) const {
    return std::none_of(body_.port_map.begin(), body_.port_map.end(),
                        [&](const PortMap& e) { return e.internal_layer == inner && e.axis; }) &&
           std::none_of(body_.back_edges.begin(), body_.back_edges.end(),
                        [&](const BackEdge& e) { return e.to_layer == inner; });
  }
  /// The sorted numbers of the layer's outputs in the port map, where these are not the ids of its ports: the outputs
  /// are then meant in the order of their numbers. The specification's example of If counts them from 0, and OpenVINO
  /// takes any numbers so.
  std::vector<i64> output_numbers() {
    std::vector<i64> numbers;
    for (const auto& entry : body_.port_map)
      if (entry.direction == PortMap::Direction::output && entry.external_port >= 0)
        numbers.push_back(entry.external_port);
    std::sort(numbers.begin(), numbers.end());
    const bool ids =
        std::all_of(numbers.begin(), numbers.end(), [&](i64 n) { return output_position(outer_, n) >= 0; });
    const bool distinct = std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end();
    if (ids || !distinct || numbers.size() != outer_.outputs.size()) return {};
    if (numbers.front() != 0 || numbers.back() + 1 != std::ssize(numbers)) warn_of_numbers(numbers);
    return numbers;
  }
  void warn_of_numbers(const std::vector<i64>& numbers) {
    std::vector<std::string> words;
    for (const auto n : numbers) words.push_back(std::to_string(n));
    const auto entry = std::find_if(body_.port_map.begin(), body_.port_map.end(), [&](const PortMap& e) {
      return e.direction == PortMap::Direction::output && e.external_port == numbers.front();
    });
    report(diagnostics_, model_, outer_,
           diagnose(Code::W0908,
                    fmt::format("the port map must name output ports of layer {}, {}, but names {}; they are taken in "
                                "the order of their numbers",
                                named(outer_), ids_of(outer_.outputs, "output"), word_list(std::move(words), "and", 8)),
                    entry->at));
  }
  /// The output that the port map means by `external`; -1: none.
  int output_number(i64 external) const {
    if (numbers_.empty()) return output_position(outer_, external);
    return static_cast<int>(std::lower_bound(numbers_.begin(), numbers_.end(), external) - numbers_.begin());
  }
  bool maps_port(i64 external, PortMap::Direction direction) const {
    return std::any_of(body_.port_map.begin(), body_.port_map.end(),
                       [&](const PortMap& e) { return e.direction == direction && e.external_port == external; });
  }

  void say(const SourceLoc& at, std::string message, std::vector<Remedy> remedies = {}, std::optional<Note> note = {}) {
    good_ = false;
    auto d = diagnose(Code::E0208, std::move(message), at);
    d.remedies = std::move(remedies);
    if (note) d.notes.push_back(std::move(*note));
    report(diagnostics_, model_, outer_, std::move(d));
  }

  /// The position of the layer with this id among the body's Parameters or Results; -1 where it is none, which is
  /// reported unless it follows from another fault. `attribute` names it in the file, in the port map or a back edge.
  int position(i64 id, bool parameter, const SourceLoc& at, const char* attribute, bool back_edge = false) {
    constexpr std::size_t kTried = 4;
    const auto& nodes = parameter ? inner_.parameters : inner_.results;
    const auto layer_of = [&](int node) -> const Layer& { return *inner_[node].layer; };
    for (int k = 0; k < std::ssize(nodes); ++k)
      if (layer_of(nodes[k]).id == id) return k;
    good_ = false;
    const std::string_view kind = parameter ? "parameter" : "result";
    const auto found =
        std::find_if(inner_.nodes.begin(), inner_.nodes.end(), [&](const Node& n) { return n.layer->id == id; });
    if (found == inner_.nodes.end() ? inner_.graph->damaged : !found->op) return -1;
    std::vector<Remedy> remedies;
    std::vector<std::string> there;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const auto candidate = layer_of(nodes[k]).id;
      // One that the port map leaves out is likelier; a back edge leads to one that begins with an input as it is.
      const bool likely = back_edge == names(candidate), possible = !back_edge || !parameter || takes_state(candidate);
      if (k < kTried && possible)
        remedies.insert(likely ? remedies.begin() : remedies.end(), tag(attribute, candidate));
      there.push_back(std::to_string(candidate));
    }
    const auto what = found == inner_.nodes.end()
                          ? fmt::format("the {} has no layer {}", body_.role, id)
                          : fmt::format("the {} must name a {}, but layer {} of the {} has type {}",
                                        back_edge ? "back edge" : "port map", kind, named(*found->layer), body_.role,
                                        found->op->type);
    say(value_in_tag(at, attribute),
        nodes.empty() ? fmt::format("{}; it has no {}", what, kind)
                      : fmt::format("{}; its {} {}", what,
                                    nodes.size() == 1 ? fmt::format("only {} is", kind) : fmt::format("{}s are", kind),
                                    word_list(std::move(there), "and", kTried)),
        std::move(remedies));
    return -1;
  }

  void add(const PortMap& entry) {
    const bool input = entry.direction == PortMap::Direction::input;
    BodyLink link;
    link.inner = position(entry.internal_layer, input, entry.at, "internal_layer_id");
    if (link.inner < 0) return;
    const auto at = link.inner;
    if (input) {
      if (fed_[at])
        return say(entry.at, fmt::format("Parameter {} of the {} is fed twice", named(parameter(at)), body_.role), {},
                   Note{"the other entry", fed_[at]->at, "", ""});
      fed_[at] = &entry;
    }
    if (entry.purpose == "current_iteration") {
      if (!input) return say(entry.at, "purpose \"current_iteration\" belongs to an <input>, as the body receives it");
      map_.iteration_parameter = link.inner;
      const auto& ports = parameter(at).outputs;
      if (!ports.empty() && ports[0].declared_type) map_.iteration_type = *ports[0].declared_type;
      if (!ports.empty() && ports[0].declared_shape) map_.iteration_shape = *ports[0].declared_shape;
    } else if (entry.purpose == "execution_condition") {
      if (input) return say(entry.at, "purpose \"execution_condition\" belongs to an <output>, as the body gives it");
      map_.condition_result = link.inner;
    }
    if (entry.external_port < 0) {
      if (entry.purpose == "current_iteration" || entry.purpose == "execution_condition") return;
      const std::string_view meant = input ? "current_iteration" : "execution_condition";
      if (entry.purpose.empty()) return say(entry.at, "a port map entry needs an external_port_id");
      return say(
          value_in_tag(entry.at, "purpose"),
          fmt::format(
              "\"purpose\" of the port map must be \"current_iteration\" or \"execution_condition\", but is \"{}\"",
              printable(entry.purpose)),
          {{{Change::What::tag_attribute, "purpose", std::string(meant)}}});
    }
    const auto& ports = input ? outer_.inputs : outer_.outputs;
    link.port = input ? input_position(outer_, entry.external_port) : output_number(entry.external_port);
    if (link.port < 0) {
      std::vector<Remedy> remedies;
      for (auto port = ports.rbegin(); port != ports.rend() && remedies.size() < 4;
           ++port)  // Loop's first two are no inputs of the body
        if (!maps_port(port->id, entry.direction)) remedies.push_back(tag("external_port_id", port->id));
      return say(value_in_tag(entry.at, "external_port_id"),
                 fmt::format("the port map names {} port {} of layer {}, {}", input ? "input" : "output",
                             entry.external_port, named(outer_), ids_of(ports, input ? "input" : "output")),
                 std::move(remedies));
    }
    if (!input) {
      auto& given = given_[link.port];
      if (given)
        return say(entry.at, fmt::format("output port {} is mapped twice", entry.external_port), {},
                   Note{"the other entry", given->at, "", ""});
      given = &entry;
    }
    link.sliced = entry.axis.has_value();
    link.axis = entry.axis.value_or(0);
    link.start = entry.start;
    link.end = entry.end;
    link.stride = entry.stride;
    link.part_size = entry.part_size;
    if (link.sliced) {
      link.axis_at = value_in_tag(entry.at, "axis");
      link.start_at = value_in_tag(entry.at, "start");
      link.end_at = value_in_tag(entry.at, "end");
      if (link.stride == 0) return say(value_in_tag(entry.at, "stride"), "\"stride\" of the port map must not be 0");
      if (link.part_size <= 0)
        return say(value_in_tag(entry.at, "part_size"),
                   fmt::format("\"part_size\" of the port map must be positive, but is {}", link.part_size));
    }
    (input ? map_.inputs : map_.outputs).push_back(link);
  }

  void add(const BackEdge& edge) {
    const auto result = position(edge.from_layer, false, edge.at, "from-layer", true),
               target = position(edge.to_layer, true, edge.at, "to-layer", true);
    if (result < 0 || target < 0) return;
    auto& before = fed_back_[target];
    if (before)
      return say(edge.at,
                 fmt::format("two back edges lead to Parameter {} of the {}", named(parameter(target)), body_.role), {},
                 Note{"the other one", before->at, "", ""});
    before = &edge;
    map_.feedback.push_back({result, target});
  }
};

}  // namespace

std::optional<BodyMap> map_body(const Model& model, const Layer& outer, const Body& body, const Model& inner,
                                Diagnostics& diagnostics) {
  return Mapper(model, outer, body, inner, diagnostics).run();
}

}  // namespace ovir::passes
