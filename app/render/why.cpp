#include "render/why.hpp"

#include <algorithm>
#include <list>

#include "base/text.hpp"
#include "cli.hpp"
#include "tools/origin.hpp"

namespace ovir::app {
namespace {

using tools::Frame;
using tools::Spot;

std::string layer_text(const Spot& s) {
  return fmt::format("\"{}{}\" ({})", printable(s.frame->model->path), printable(s.node().layer->name),
                     printable(s.node().layer->type));
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
  std::optional<std::int64_t> axis;
};

[[noreturn]] void no_such_layer(const std::list<Frame>& frames, std::string_view name) {
  std::vector<std::string> names;
  for (const auto& frame : frames)
    for (const auto& node : frame.model->nodes) names.push_back(frame.model->path + node.layer->name);
  const auto near = nearest(name, {names.begin(), names.end()});
  throw UsageError(fmt::format("--why: no layer is named \"{}\"{}; expected LAYER[:port[:axis]]", printable(name),
                               near ? fmt::format("; did you mean \"{}\"?", printable(*near)) : ""));
}

/// A layer's name may hold colons itself: the whole text is tried first.
Target parse(const std::list<Frame>& frames, const std::string& text) {
  std::string_view name = text;
  std::vector<std::int64_t> numbers;
  auto found = tools::find_output(frames, name);
  while (!found && numbers.size() < 2) {
    const auto colon = name.rfind(':');
    const auto number = colon == name.npos ? std::nullopt : parse_number<std::int64_t>(name.substr(colon + 1));
    if (!number) break;
    numbers.insert(numbers.begin(), *number);
    name = name.substr(0, colon);
    found = tools::find_output(frames, name);
  }
  if (!found) no_such_layer(frames, name);
  Target target{*found, {}};
  const auto outputs = target.spot.frame->facts->outputs[static_cast<std::size_t>(found->at.node)].size();
  if (!numbers.empty()) {
    if (numbers[0] < 0 || numbers[0] >= static_cast<std::int64_t>(outputs))
      throw UsageError(fmt::format("--why: {} has no output {}; it has {}", layer_text(*found), numbers[0], outputs));
    target.spot.at.port = static_cast<int>(numbers[0]);
  } else if (outputs == 0) {
    throw UsageError(fmt::format("--why: {} has no outputs", layer_text(*found)));
  }
  if (numbers.size() == 2) target.axis = numbers[1];
  return target;
}

}  // namespace

std::string why(const Model& model, const Facts& facts, const std::string& text) {
  const auto frames = tools::frames_of(model, facts);
  const auto target = parse(frames, text);
  const auto layer = layer_text(target.spot);
  const auto& fact = target.spot.fact();
  const auto& shape = fact.shape;
  if (!shape.has_rank()) return fmt::format("{} has an unknown rank\n", layer);
  if (target.axis && (*target.axis < 0 || *target.axis >= shape.rank()))
    throw UsageError(fmt::format("--why: {} has no axis {}; its shape is {}", layer, *target.axis, to_string(shape)));

  std::string out = fmt::format("{} {}{}\n", layer, name(fact.type), to_string(shape));
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (target.axis && axis != *target.axis) continue;
    Spot spot = target.spot;
    spot.axis = axis;
    out += fmt::format("  axis {}: {}", axis, to_string(shape[axis]));
    std::string steps;
    bool computed = false;
    while (const auto from = tools::origin(spot)) {
      spot = from->spot;
      computed |= from->computed;
      steps += fmt::format("\n    {}{}", from->computed ? "computed from " : "", describe(spot));
    }
    if (steps.empty()) out += ", which this layer makes\n";
    else
      out += target.axis ? ":" + steps + "\n"
                         : fmt::format(", {} {}\n", computed ? "computed from" : "from", describe(spot));
  }
  return out;
}

}  // namespace ovir::app
