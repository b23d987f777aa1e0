#include "render/why.hpp"

#include <algorithm>
#include <list>

#include "base/text.hpp"
#include "base/word_list.hpp"
#include "cli.hpp"
#include "render/json.hpp"
#include "tools/origin.hpp"

namespace ovir::app {
namespace {

using tools::Frame;
using tools::Spot;

std::string layer_text(const Spot& s) {
  return fmt::format("\"{}{}\" ({})", printable(s.frame->model->path), printable(s.node().layer->name),
                     printable(s.node().layer->type));
}

/// Where a walk ends: what the model is given, what it holds, or what a layer makes whatever its inputs.
bool is_source(const Spot& s) {
  const auto kind = s.node().op->kind;
  return kind == Kind::parameter || kind == Kind::constant;
}

std::string describe(const Spot& s) {
  const auto& fact = s.fact();
  if (s.element)
    return fmt::format(
        "{} of {}", fact.value && fact.value.rank() == 0 ? std::string("the value") : fmt::format("element {}", s.axis),
        layer_text(s));
  return fmt::format("axis {} of {}{} {}{}", s.axis, layer_text(s),
                     s.node().output_count > 1 ? fmt::format(" output {}", s.at.port) : "", name(fact.type),
                     to_string(fact.shape));
}

struct Target {
  Spot spot;
  std::optional<i64> axis;
};

[[noreturn]] void no_such_layer(const std::list<Frame>& frames, std::string_view name) {
  std::vector<std::string> names;
  for (const auto& frame : frames)
    for (const auto& node : frame.model->nodes) names.push_back(frame.model->path + node.layer->name);
  const auto near = nearest(name, {names.begin(), names.end()});
  throw UsageError(
      fmt::format("--why: no layer is named \"{}\"; {}", printable(name),
                  near ? fmt::format("did you mean \"{}\"?", printable(*near)) : "expected LAYER[:port[:axis]]"));
}

/// By name, or as "id:5".
std::optional<Spot> find(const std::list<Frame>& frames, std::string_view name) {
  auto found = tools::find_output(frames, name);
  const auto id = !found && name.starts_with("id:") ? parse_number<i64>(name.substr(3)) : std::nullopt;
  if (!id) return found;
  for (const auto& node : frames.front().model->nodes)
    if (node.layer->id == *id) return tools::find_output(frames, node.layer->name);
  throw UsageError(fmt::format("--why: no layer has the id {}", *id));
}

/// A layer's name may hold colons itself: the whole text is tried first.
Target parse(const std::list<Frame>& frames, const std::string& text) {
  std::string_view name = text;
  std::vector<i64> numbers;
  auto found = find(frames, name);
  while (!found && numbers.size() < 2) {
    const auto colon = name.rfind(':');
    const auto number = colon == name.npos ? std::nullopt : parse_number<i64>(name.substr(colon + 1));
    if (!number) break;
    numbers.insert(numbers.begin(), *number);
    name = name.substr(0, colon);
    found = find(frames, name);
  }
  if (!found) no_such_layer(frames, name);
  Target target{*found, {}};
  const auto outputs = std::ssize(target.spot.frame->facts->outputs[found->at.node]);
  if (!numbers.empty()) {
    if (numbers[0] < 0 || numbers[0] >= outputs)
      throw UsageError(fmt::format("--why: {} has no output {}; it has {}", layer_text(*found), numbers[0],
                                   counted(outputs, "output")));
    target.spot.at.port = static_cast<int>(numbers[0]);
  } else if (outputs == 0) {
    throw UsageError(fmt::format("--why: {} has no outputs", layer_text(*found)));
  }
  if (numbers.size() == 2) target.axis = numbers[1];
  return target;
}

/// Every step as long as each has one origin; then where the rest ends.
std::string walk(Spot spot) {
  std::string out;
  while (const auto from = tools::origin(spot)) {
    for (const auto& origin : from->spots)
      out += fmt::format("    {}{}\n", from->computed ? "computed from " : "", describe(origin));
    if (from->spots.size() > 1) {
      for (const auto& end : tools::roots(spot).spots)
        out += fmt::format("    and so {} {}\n", is_source(end) ? "from" : "made as", describe(end));
      return out;
    }
    spot = from->spots.front();
  }
  return is_source(spot) ? out : out + "    which this layer makes\n";
}

/// ", from axis 0 of "x" (Parameter) f32[?]".
std::string ending(const tools::Roots& roots) {
  std::vector<std::string> spots;
  for (const auto& spot : roots.spots) spots.push_back(describe(spot));
  if (roots.spots.size() == 1 && !is_source(roots.spots.front())) {
    const auto& maker = roots.spots.front();
    return fmt::format(", {} {}, which that layer makes\n", roots.computed ? "computed from" : "from", describe(maker));
  }
  return fmt::format(", {} {}\n", roots.computed ? "computed from" : "from", word_list(std::move(spots), "and", 3));
}

/// The axes that were asked for.
std::vector<Spot> axes_of(const Target& target) {
  const auto& shape = target.spot.fact().shape;
  if (!shape.has_rank()) return {};
  if (target.axis && (*target.axis < 0 || *target.axis >= shape.rank()))
    throw UsageError(fmt::format("--why: {} has no axis {}; its shape is {}", layer_text(target.spot), *target.axis,
                                 to_string(shape)));
  std::vector<Spot> spots;
  for (i64 axis = 0; axis < shape.rank(); ++axis) {
    if (target.axis && axis != *target.axis) continue;
    spots.push_back(target.spot);
    spots.back().axis = axis;
  }
  return spots;
}

Json as_json(const std::vector<Spot>& spots) {
  Json list = Json::array();
  for (const auto& s : spots) {
    const auto& fact = s.fact();
    Json entry{{"layer", s.frame->model->path + s.node().layer->name}, {"type", s.node().layer->type}};
    entry["port"] = s.at.port;
    entry[s.element ? "element" : "axis"] = s.axis;
    entry["element_type"] = name(fact.type);
    entry["shape"] = to_string(fact.shape);
    list.push_back(std::move(entry));
  }
  return list;
}

/// From `spot` back, as long as each step has one origin.
Json steps(Spot spot) {
  Json list = Json::array();
  while (const auto from = tools::origin(spot)) {
    list.push_back({{"computed", from->computed}, {"from", as_json(from->spots)}});
    if (from->spots.size() > 1) break;
    spot = from->spots.front();
  }
  return list;
}

}  // namespace

std::string why(const Model& model, const Facts& facts, const std::string& text) {
  const auto frames = tools::frames_of(model, facts);
  const auto target = parse(frames, text);
  const auto& fact = target.spot.fact();
  if (!fact.shape.has_rank()) return fmt::format("the rank of {} is unknown\n", layer_text(target.spot));
  std::string out = fmt::format("{} {}{}\n", layer_text(target.spot), name(fact.type), to_string(fact.shape));
  for (const auto& spot : axes_of(target)) {
    out += fmt::format("  axis {}: {}", spot.axis, to_string(fact.shape[spot.axis]));
    if (!tools::origin(spot)) out += is_source(spot) ? ", as it is given\n" : ", which this layer makes\n";
    else out += target.axis ? ":\n" + walk(spot) : ending(tools::roots(spot));
  }
  return out;
}

std::string why_json(const Model& model, const Facts& facts, const std::string& text) {
  const auto frames = tools::frames_of(model, facts);
  const auto target = parse(frames, text);
  const auto& fact = target.spot.fact();
  Json axes = Json::array();
  for (const auto& spot : axes_of(target)) {
    const auto roots = tools::roots(spot);
    Json axis{{"axis", spot.axis}, {"dim", to_string(fact.shape[spot.axis])}};
    axis["computed"] = roots.computed;
    axis["from"] = tools::origin(spot) ? as_json(roots.spots) : Json::array();
    if (target.axis) axis["steps"] = steps(spot);
    axes.push_back(std::move(axis));
  }
  return json_text({{"schema", 1},
                    {"layer", target.spot.frame->model->path + target.spot.node().layer->name},
                    {"type", target.spot.node().layer->type},
                    {"port", target.spot.at.port},
                    {"element_type", name(fact.type)},
                    {"shape", to_string(fact.shape)},
                    {"axes", std::move(axes)}},
                   3);
}

}  // namespace ovir::app
