#include "tools/traps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/report.hpp"
#include "op/ports.hpp"
#include "tools/trap_finder.hpp"

namespace ovir::tools {
namespace {

constexpr std::array kKinds{
    TrapKind{Trap::oob, "oob", Code::T0803, "an index out of range"},
    TrapKind{Trap::div0, "div0", Code::T0804, "a division by zero"},
    TrapKind{Trap::domain, "domain", Code::T0806, "an operand outside the domain"},
    TrapKind{Trap::overflow, "overflow", Code::T0805, "an overflow"},
    TrapKind{Trap::uninit, "uninit", Code::T0809, "an element that nothing has set"},
    TrapKind{Trap::inf, "inf", Code::T0802, "an infinity"},
    TrapKind{Trap::nan, "nan", Code::T0801, "NaN"},
    TrapKind{Trap::f16, "f16", Code::T0807, "a value that f16 cannot hold"},
    TrapKind{Trap::bf16, "bf16", Code::T0808, "a value that bf16 cannot hold"},
};

std::string index_text(const Shape& index) { return index.empty() ? "" : to_string(index); }

/// `input "indices" of Gather`, `output 0 of Exp`.
std::string port_text(const Node& node, int port, bool input) {
  const auto which =
      input ? fmt::format("input \"{}\"", port_name(*node.version, port)) : fmt::format("output {}", port);
  return fmt::format("{} of {}", which, node.op->type);
}

/// `element [0,3] of input "indices" of Gather`.
std::string where_text(const Node& node, int port, bool input, const Shape& index) {
  const auto of = port_text(node, port, input);
  return index.empty() ? of : fmt::format("element {} of {}", to_string(index), of);
}

std::string message(const TrapEvent& e) {
  const auto& node = (*e.at.model)[e.at.node];
  const auto& about = kind_of(e.trap).about;
  if (e.at.value.empty()) return fmt::format("{}: {}", about, e.cause);
  auto where = where_text(node, e.at.port, e.input, e.at.index);
  if (!e.at.iterations.empty()) where += fmt::format(", iteration {}", fmt::join(e.at.iterations, "."));
  return e.cause.empty() ? fmt::format("{}: {}", about, where) : fmt::format("{}: {} ({})", about, e.cause, where);
}

std::string operand_note(const Node& node, const TrapOperand& operand) {
  return fmt::format("{} is {}", where_text(node, operand.port, true, operand.index), operand.value);
}

/// Adds what only the operands tell: the cause, and where the one at fault came from.
void complete(TrapEvent& event, const TrapFinder& finder, const Model& whole) {
  const auto& layer = finder.computed();
  if (!layer) {
    if (!event.at.value.empty()) event.origin = origin_of(finder.history(), whole, event.at);
    return;
  }
  auto due_to = finder.due_to();
  if (due_to.empty() && !event.input && layer->node().op->kind == Kind::compute && layer->node().bodies.empty() &&
      event.trap != Trap::uninit && event.trap != Trap::f16 && event.trap != Trap::bf16) {
    const auto& out = layer->out[event.at.port];
    auto reason = reason_for(*layer, event.at.port, offset_of(out.shape(), event.at.index));
    if (event.cause.empty()) event.cause = std::move(reason.cause);
    due_to = std::move(reason.due_to);
  }
  if (!event.input || event.trap == Trap::div0)
    for (const auto& e : due_to) {
      const auto& t = layer->in[e.port];
      event.operands.push_back({e.port, index_of(t.shape(), e.at), element_text(t, e.at)});
    }
  else event.operands.push_back({event.at.port, event.at.index, event.at.value});
  event.origin = origin_of(finder.history(), whole, *layer, due_to);
}

}  // namespace

std::span<const TrapKind> trap_kinds() { return kKinds; }
const TrapKind& kind_of(Trap trap) { return kKinds[static_cast<std::size_t>(trap)]; }

Traps parse_traps(std::string_view list) {
  std::vector<std::string_view> names;
  for (const auto& kind : kKinds) names.push_back(kind.name);
  Traps traps;
  for (const auto part : split(list, ',')) {
    const auto word = trim(part);
    const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                   [&](const TrapKind& k) { return equals_ignoring_case(k.name, word); });
    if (kind == kKinds.end()) {
      const auto near = nearest(word, names);
      throw std::invalid_argument(fmt::format("expected a list of {}, not '{}'{}", fmt::join(names, ", "),
                                              printable(word), near ? fmt::format("; did you mean '{}'?", *near) : ""));
    }
    traps.add(kind->trap);
  }
  if (traps.empty()) throw std::invalid_argument(fmt::format("expected a list of {}", fmt::join(names, ", ")));
  return traps;
}

Options trap_options(Options options) {
  for (const auto* pass : {"fold", "fuse"}) options.without.emplace_back(pass);
  return options;
}

std::optional<TrapEvent> first_trap(Session& session, std::span<const Tensor> inputs, const Traps& traps,
                                    std::vector<Tensor>* results, Observer* also) {
  TrapFinder finder(session, traps, also);
  try {
    auto computed = session.run(inputs, &finder);
    if (results) *results = std::move(computed);
  } catch (const Failure& failure) {
    if (!finder.refused(failure.diagnostic)) throw;
  }
  if (finder.found()) complete(*finder.found(), finder, *finder.whole());
  return std::move(finder.found());
}

std::optional<TrapEvent> first_trap(std::shared_ptr<const Model> model, const Facts& facts,
                                    std::span<const Tensor> inputs, const Traps& traps, const Options& options) {
  auto session = compile(std::move(model), facts, trap_options(options));
  return first_trap(session, inputs, traps);
}

std::string describe(const Place& place) {
  auto text = fmt::format("layer {} \"{}{}\"", printable(place.layer().id_text), printable(place.model->path),
                          printable(place.layer().name));
  if (!place.iterations.empty()) text += fmt::format(" in iteration {}", fmt::join(place.iterations, "."));
  return text;
}

Diagnostic diagnose(const TrapEvent& event) {
  const auto& node = (*event.at.model)[event.at.node];
  Diagnostic d = ovir::diagnose(kind_of(event.trap).code, message(event));
  d.port = PortRef{event.input, event.at.port, {}, event.input ? port_name(*node.version, event.at.port) : ""};
  for (const auto& operand : event.operands)
    if (!event.input || operand.port != event.at.port) d.notes.push_back({operand_note(node, operand), {}, "", ""});
  for (const auto& step : event.origin) {
    const auto& from = (*step.at.model)[step.at.node];
    const auto what =
        fmt::format("{}{}", index_text(step.at.index), step.at.value.empty() ? "" : " = " + step.at.value);
    const auto outer = step.at.model->path.empty();
    Note note;
    if (from.op->kind == Kind::parameter && outer)
      note.message = fmt::format("it comes from input \"{}\"{}", printable(from.layer->name), what);
    else if (from.op->kind == Kind::constant)
      note.message = fmt::format("it comes from constant {}, {}", describe(step.at), what);
    else
      note.message =
          fmt::format("it comes from {} ({}){}{}", describe(step.at), from.op->type, what.empty() ? "" : ", ", what);
    if (!step.cause.empty()) note.message += ": " + step.cause;
    note.at = from.layer->at;
    d.notes.push_back(std::move(note));
  }
  locate(d, *event.at.model, *event.at.model->nodes[event.at.node].layer);
  return d;
}

}  // namespace ovir::tools
