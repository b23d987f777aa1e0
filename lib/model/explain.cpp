// explain: what reached the inputs of a faulty layer, and where it comes from.
#include "model/explain.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/report.hpp"
#include "op/ports.hpp"

namespace ovir {
namespace {

constexpr std::size_t kMaxNotes = 4;

/// More numbers than these say less than the shape does. Of integers, which configure operations, more are shown.
constexpr i64 kMaxIntegers = 16, kMaxFloats = 4;

/// An operand's value in a note: "i64 {1, 4, 64}". Nothing where it would not be read.
std::string value_of(const Tensor& t) {
  if (!t || t.type() == ElementType::string) return {};
  const bool real = is_float(t.type());
  if (t.size() > (real ? kMaxFloats : kMaxIntegers)) return {};
  std::vector<std::string> words;
  if (t.type() == ElementType::boolean)
    for (const auto v : to_i64(t)) words.push_back(v != 0 ? "true" : "false");
  else if (!real)
    for (const auto v : to_i64(t)) words.push_back(std::to_string(v));
  else
    for (const auto v : to_f64(t))
      words.push_back(t.type() == ElementType::f64 ? fmt::format("{}", v) : fmt::format("{}", static_cast<float>(v)));
  return fmt::format("{} {{{}}}", name(t.type()), fmt::join(words, ", "));
}

/// Whether the bytes are what the constant holds, and not what `edit` is about to change.
bool is_stored(const Bytes& weights, const ByteRange& range, const Tensor& value) {
  const std::size_t size = range.end - range.begin;
  if (value.type() == ElementType::string || value.byte_size() != size || weights.size() < size) return true;
  return std::equal(value.bytes(), value.bytes() + size, weights.view.begin() + range.begin);
}

/// "stored at model.bin[432..456)".
std::string place_in_weights(const Graph& graph, const Node& constant) {
  const auto range = graph.weights_path.empty() ? std::nullopt : stored_bytes(constant);
  if (range && graph.weights && constant.constant && constant.constant.size() <= kMaxIntegers &&
      !is_stored(*graph.weights, *range, constant.constant))
    return {};
  return range ? fmt::format("stored at {}[{}..{})", printable(graph.weights_path), range->begin, range->end)
               : std::string();
}

/// " (declared f32[1,4,8,8] at line 80)", where that is something else.
std::string declared(const Port& port, const Fact& fact, std::optional<LineIndex>& lines) {
  const bool type = port.declared_type && *port.declared_type != ElementType::dynamic &&
                    fact.type != ElementType::dynamic && *port.declared_type != fact.type;
  const bool shape =
      port.declared_shape && port.declared_shape->rank() > 0 && !port.declared_shape->compatible(fact.shape);
  if ((!type && !shape) || !port.at) return {};
  if (!lines) lines.emplace(*port.at.file);
  const auto at = (*lines)(port.at.offset);
  return fmt::format(" (declared {}{} at line {})", port.declared_type ? name(*port.declared_type) : "",
                     port.declared_shape ? to_string(*port.declared_shape) : "", at.line);
}

/// The operation has an input i.
bool is_known(const Node& node, std::size_t i) {
  const auto ports = node.version->inputs;
  return i < ports.size() || (!ports.empty() && is_endless(ports.back()));
}

}  // namespace

void explain(Diagnostic& d, const Model& model, const Node& node, std::span<const Fact> inputs,
             std::optional<LineIndex>* lines) {
  if (d.layer) return;
  std::optional<LineIndex> own;
  if (!lines) lines = &own;
  const auto at_fault = d.port && d.port->input ? d.port->index : -1;
  const auto tell = [&](int i) {
    const auto& producer = model[node.inputs[i].node];
    const auto& fact = inputs[i];
    const bool constant = producer.op && producer.op->kind == Kind::constant;
    const auto value = value_of(fact.value);
    if (at_fault == i) {
      const auto contradiction =
          i < std::ssize(node.layer->inputs) ? declared(node.layer->inputs[i], fact, *lines) : std::string();
      d.label =
          fmt::format("input {}: inferred {}{}, from {}", i, describe(fact), contradiction, describe(*producer.layer));
      if (value.empty()) return;
    }
    Note note;
    const auto port =
        is_known(node, i) ? fmt::format("input {} \"{}\"", i, port_name(*node.version, i)) : fmt::format("input {}", i);
    if (constant && !value.empty())
      note.message = fmt::format("{} is constant {} = {}", port, describe(*producer.layer), value);
    else
      note.message = fmt::format("{} is {}, {}from {}", port, describe(fact),
                                 value.empty() ? "" : "known to be " + value + ", ", describe(*producer.layer));
    note.at = producer.layer->at;
    if (constant) note.where = place_in_weights(*model.graph, producer);
    d.notes.push_back(std::move(note));
  };
  // Where the message names inputs, the others have nothing to do with it.
  const auto named = [&](int i) {
    return d.message.find(fmt::format("\"{}\"", port_name(*node.version, i))) != std::string::npos;
  };
  bool names_some = false;
  for (int i = 0; i < std::ssize(node.inputs) && is_known(node, i); ++i) names_some = names_some || named(i);
  // Nor have any with an attribute that is out of its domain, or with bodies and port maps.
  if (at_fault < 0 && !names_some && (d.attribute.empty() ? d.code == Code::E0208 : d.code <= Code::E0403)) return;
  if (at_fault >= 0 && at_fault < std::ssize(node.inputs)) tell(static_cast<int>(at_fault));
  for (int i = 0; i < std::ssize(node.inputs) && d.notes.size() < kMaxNotes; ++i)
    if (at_fault != i && (!names_some || (is_known(node, i) && named(i)))) tell(i);
}

namespace {

/// Which nodes of the body the faulty layer depends on; empty where the layer is in a body of the body.
std::vector<char> upstream(const Diagnostic& d, const Model& inner) {
  const auto at = std::find_if(inner.nodes.begin(), inner.nodes.end(), [&](const Node& n) {
    return d.layer && d.layer->path == inner.path && d.layer->id == n.layer->id_text && d.layer->name == n.layer->name;
  });
  if (at == inner.nodes.end()) return {};
  std::vector<char> reached(inner.nodes.size());
  std::vector<int> open{static_cast<int>(at - inner.nodes.begin())};
  while (!open.empty()) {
    const auto node = open.back();
    open.pop_back();
    if (node < 0 || std::exchange(reached[node], 1)) continue;
    for (const auto& input : inner[node].inputs) open.push_back(input.node);
  }
  return reached;
}

}  // namespace

void explain_body(Diagnostic& d, const Model& model, const Node& node, const BodyMap& map, const Model& inner) {
  const auto needed = upstream(d, inner);
  for (const auto& link : map.inputs) {
    if (d.notes.size() >= 2 * kMaxNotes) break;
    if (!needed.empty() && !needed[inner.parameters[link.inner]]) continue;
    const auto& parameter = *inner[inner.parameters[link.inner]].layer;
    const auto& producer = *model[node.inputs[link.port].node].layer;
    d.notes.push_back(
        {fmt::format("{} of the {} receives {}input {} of {}, from {}", describe(parameter), map.role,
                     link.sliced ? "slices of " : "", link.port, describe(*node.layer), describe(producer)),
         parameter.at, "", ""});
  }
}

}  // namespace ovir
