// constant_value: a Constant's bytes in the mapped .bin.
#include "passes/constants.hpp"

#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "model/report.hpp"
#include "op/shared_attrs.hpp"
#include "passes/attributes.hpp"

namespace ovir::passes {
namespace {

/// Strings are stored as their count, the offsets of their ends (each 32 bits) and their text.
Tensor read_strings(const Shape& shape, std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner) {
  const auto word = [&](std::size_t i) {
    std::uint32_t w;
    std::memcpy(&w, bytes.data() + i * 4, 4);
    return std::size_t{w};
  };
  const std::size_t wanted = shape.count();
  if (bytes.size() < 4) fail(Code::E0303, "the constant must hold {} strings, but has {} bytes", wanted, bytes.size());
  if (word(0) != wanted) fail(Code::E0303, "the constant must hold {} strings, but holds {}", wanted, word(0));
  const auto text_at = (wanted + 2) * 4;
  if (bytes.size() / 4 < wanted + 2)
    fail(Code::E0303, "the constant must hold the offsets of {} strings, but its bytes are too few", wanted);
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + text_at;
  Tensor t(ElementType::string, shape);
  for (std::size_t i = 0; i < wanted; ++i) {
    const auto begin = word(i + 1), end = word(i + 2);
    if (begin > end || end > bytes.size() - text_at)
      fail(Code::E0303, "string {} of the constant must lie within the {} bytes of its text, but spans [{}..{})", i,
           bytes.size() - text_at, begin, end);
    t.mutable_data<std::string_view>()[i] = {text + begin, end - begin};
  }
  t.keep_alive(Tensor(ElementType::u8, {std::ssize(bytes)}, owner, bytes.data()));
  return t;
}

/// Type, shape and size contradict each other. The output port, which repeats type and shape, shows which of them
/// stands alone.
std::vector<Remedy> one_of_three(const Layer& layer, ElementType type, const Shape& shape, i64 needed) {
  std::vector<Remedy> remedies;
  const auto set = [&](const char* attribute, std::string value) {
    remedies.push_back({{Change::What::attribute, attribute, std::move(value)}});
  };
  if (layer.outputs.size() != 1) return remedies;
  const auto& port = layer.outputs.front();
  if (port.declared_type && *port.declared_type != type && *port.declared_type != ElementType::dynamic)
    set("element_type", std::string(name(*port.declared_type)));
  if (port.declared_shape && port.declared_shape->is_static() && port.declared_shape->to_shape() != shape) {
    const auto text = to_string(*port.declared_shape);
    set("shape", text.substr(1, text.size() - 2));
  }
  if (remedies.empty() && type != ElementType::string) set("size", std::to_string(needed));
  return remedies;
}

}  // namespace

Tensor constant_value(const Graph& graph, const Node& node) {
  const auto& layer = *node.layer;
  if (layer.value) return *layer.value;
  const auto& [type, shape, offset, size] = node.as<ConstantAttrs>();
  if (type == ElementType::dynamic) return {};  // a fault that infer reports
  if (std::any_of(shape.begin(), shape.end(), [](i64 d) { return d < 0; }))
    fail_attribute(
        "shape", Code::E0402,
        fmt::format("attribute \"shape\" of Constant must be a list of lengths, but is {}", to_string(shape)));
  for (const auto& [name, n] : {std::pair("offset", offset), std::pair("size", size)})
    if (n < 0)
      fail_attribute(name, Code::E0402,
                     fmt::format("attribute \"{}\" of Constant must not be negative, but is {}", name, n));

  const auto count = checked_product(shape);
  const auto needed = !count                        ? std::nullopt
                      : type == ElementType::string ? std::optional<i64>(0)
                                                    : packed_size(type, *count);
  if (!needed)
    fail_attribute("shape", Code::E0303,
                   fmt::format("a constant must take less than 2^63 bytes, but its shape is {}", to_string(shape)));
  if (size < *needed) {
    auto d = diagnose(Code::E0303, fmt::format("a constant {}{} takes {}, but \"size\" is {}", name(type),
                                               to_string(shape), counted(*needed, "byte"), size));
    d.attribute = "size";
    d.remedies = one_of_three(layer, type, shape, *needed);
    fail(std::move(d));
  }
  const auto end = checked_add(offset, size);
  if (!graph.weights && !end)
    fail_attribute(
        "offset", Code::E0302,
        fmt::format("the constant's bytes must end before 2^63, but they begin at {} and take {}", offset, size));
  if (!graph.weights) return {};
  const i64 available = graph.weights->size();
  if (!end || *end > available) {
    // Where the bytes that the shape takes would fit, size is what is wrong.
    const bool fits = *needed < size && *needed <= available && offset <= available - *needed;
    fail_attribute(
        fits ? "size" : "offset", Code::E0302,
        fmt::format("the constant's bytes [{}..{}) {} the end of {}, which has {}{}", offset,
                    end ? std::to_string(*end) : "beyond 2^63", offset < available ? "extend past" : "lie past",
                    printable(graph.weights_path), counted(available, "byte"),
                    fits ? fmt::format("; {}{} takes {}", name(type), to_string(shape), *needed) : ""),
        fits && type != ElementType::string ? std::vector{std::to_string(*needed)} : std::vector<std::string>{});
  }

  const auto bytes = graph.weights->view.subspan(offset, size);
  if (type == ElementType::string) return read_strings(shape, bytes, graph.weights->owner);
  return Tensor::anywhere(type, shape, graph.weights->owner, bytes.data());
}

namespace {

struct LayerBytes {
  i64 begin, end;
  const Layer* layer;
  const Model* model = nullptr;
};

/// Of a Constant that has bytes at all.
std::optional<LayerBytes> range_of(const Node& node) {
  const auto bytes = stored_bytes(node);
  return bytes && bytes->begin < bytes->end ? std::optional(LayerBytes{bytes->begin, bytes->end, node.layer})
                                            : std::nullopt;
}

void sort_by_place(std::vector<LayerBytes>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const LayerBytes& a, const LayerBytes& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
}

}  // namespace

std::vector<const Layer*> cut_off_constants(const Model& model, Diagnostic& d) {
  const auto& graph = *model.graph;
  if (!graph.weights) return {};
  constexpr i64 kGap = 64;  // writers align constants
  const i64 available = graph.weights->size();
  std::vector<LayerBytes> outside;
  i64 reached = 0;
  for (const auto& node : model.nodes) {
    const auto range = range_of(node);
    if (!range) continue;
    if (range->end > available) outside.push_back(*range);
    else reached = std::max(reached, range->end);
  }
  if (outside.size() < 2) return {};
  sort_by_place(outside);
  for (const auto& range : outside) {
    if (range.begin - reached > kGap) return {};
    reached = std::max(reached, range.end);
  }
  d.code = Code::E0302;
  d.message = fmt::format("{} ends at byte {}, but the constants reach up to byte {}", printable(graph.weights_path),
                          available, reached);
  d.attribute = "offset";
  d.label = fmt::format("missing: bytes [{}..{})", outside.front().begin, outside.front().end);
  d.notes.push_back({fmt::format("{} behind it {} missing too", counted(outside.size() - 1, "constant"),
                                 outside.size() == 2 ? "is" : "are"),
                     {},
                     "",
                     ""});
  d.notes.push_back({available == 0 ? "it is empty: the download or copy probably failed"
                                    : "it was cut short, or belongs to another model",
                     {},
                     "",
                     ""});
  std::vector<const Layer*> layers;
  for (const auto& range : outside) layers.push_back(range.layer);
  return layers;
}

namespace {

void collect(const Model& model, std::vector<LayerBytes>& ranges) {
  for (const auto& node : model.nodes) {
    if (const auto range = range_of(node)) ranges.push_back({range->begin, range->end, range->layer, &model});
    for (const auto& body : node.bodies) collect(*body, ranges);
  }
}

}  // namespace

void warn_overlapping_constants(const Model& model, Diagnostics& diagnostics) {
  std::vector<LayerBytes> ranges;
  collect(model, ranges);
  sort_by_place(ranges);
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    const auto& a = ranges[i - 1];
    const auto& b = ranges[i];
    if (b.begin >= a.end || b.begin == a.begin) continue;  // apart, or shared from one start
    auto d = diagnose(Code::W0903,
                      fmt::format("constants \"{3}\" [{4}..{5}) and \"{2}\" [{0}..{1}) partly overlap in the .bin",
                                  b.begin, b.end, printable(b.layer->name), printable(a.layer->name), a.begin, a.end));
    d.attribute = "offset";
    report(diagnostics, *b.model, *b.layer, std::move(d));
  }
}

}  // namespace ovir::passes
