#include "xml/builder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "diag/diagnostic.hpp"
#include "tensor/element_type.hpp"
#include "xml/names.hpp"

namespace ovir::xml {

namespace {

constexpr i64 kOldest = 10, kNewest = 11;
/// Bodies in bodies: real models have three levels, and every level takes stack.
constexpr int kDeepest = 64;

std::string quoted(std::string_view s) {
  constexpr std::size_t longest = 60;
  return s.size() <= longest ? '"' + printable(s) + '"' : '"' + printable(s.substr(0, longest)) + "...\"";
}

/// What `s`, which is no number of at least `min`, must be.
std::string expected_number(std::string_view s, i64 min) {
  const std::string_view digits = trim(s).substr(trim(s).starts_with('-') ? 1 : 0);
  const bool whole =
      !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!whole) return "must be an integer";
  if (!parse_number<i64>(s)) return "must fit in 64 bits";
  return min == 0 ? "must not be negative" : fmt::format("must be at least {}", min);
}

}  // namespace

SourceLoc Builder::at(const char* begin, std::size_t length) const {
  return {source_, static_cast<std::size_t>(begin - buffer_), std::max<std::size_t>(length, 1)};
}

SourceLoc Builder::tag(pugi::xml_node node) const { return at(node.name() - 1, std::strlen(node.name()) + 1); }

SourceLoc Builder::value(pugi::xml_attribute attribute) const {
  // Decoded entities made the value shorter than the text: the quote before it is also the one behind it.
  SourceLoc place = at(attribute.value(), 1);
  const auto end = source_->text.find(source_->text[place.offset - 1], place.offset);
  if (end != std::string_view::npos) place.length = std::max<std::size_t>(end - place.offset, 1);
  return place;
}

void Builder::report(Code code, std::string message, SourceLoc place, std::string label, std::vector<Note> notes,
                     std::vector<Remedy> remedies) {
  auto d = diagnose(code, std::move(message), std::move(place));
  d.label = std::move(label);
  if (in_layer_) {
    const auto attribute = [&](const char* name) { return std::string(in_layer_.attribute(name).value()); };
    d.layer = LayerRef{attribute("id"), attribute("name"), attribute("type"), attribute("version"), path_};
  }
  d.port = in_port_;
  d.notes = std::move(notes);
  d.remedies = std::move(remedies);
  faulty_ |= d.severity == Severity::error;
  diagnostics_.add(std::move(d));
}

std::optional<i64> Builder::number(pugi::xml_node node, const char* name, i64 min, std::optional<i64> otherwise) {
  const auto attribute = node.attribute(name);
  if (!attribute) {
    if (!otherwise) report(Code::E0103, fmt::format("<{}> has no {}", node.name(), name), tag(node));
    return otherwise;
  }
  const auto n = parse_number<i64>(attribute.value());
  if (n && *n >= min) return n;
  report(Code::E0104,
         fmt::format("{} of <{}> {}, but is {}", name, node.name(), expected_number(attribute.value(), min),
                     quoted(attribute.value())),
         value(attribute));
  return std::nullopt;
}

std::string Builder::text(pugi::xml_node node, const char* name) {
  const auto attribute = node.attribute(name);
  if (!attribute) report(Code::E0103, fmt::format("<{}> has no {}", node.name(), name), tag(node));
  return attribute.value();
}

void Builder::check_attributes(pugi::xml_node node) {
  // Nearly always first letter and length tell the few attributes apart, and nothing need be sorted.
  std::uint64_t seen = 0;
  bool alike = false;
  for (auto a = node.first_attribute(); a; a = a.next_attribute()) {
    const auto bit = std::uint64_t{1} << ((static_cast<unsigned char>(a.name()[0]) + 7 * std::strlen(a.name())) % 64);
    alike |= (seen & bit) != 0;
    seen |= bit;
  }
  if (!alike) return;
  std::vector<pugi::xml_attribute> all(node.attributes_begin(), node.attributes_end());
  const auto less = [](const auto& x, const auto& y) { return std::strcmp(x.name(), y.name()) < 0; };
  std::stable_sort(all.begin(), all.end(), less);
  for (std::size_t i = 1; i < all.size(); ++i)
    if (!less(all[i - 1], all[i]))
      report(Code::E0101,
             fmt::format("malformed XML: <{}> has the attribute {} twice", printable(node.name()),
                         printable(all[i].name())),
             at(all[i].name(), std::strlen(all[i].name())), "",
             {{"the first one", at(all[i - 1].name(), std::strlen(all[i].name())), "", ""}});
}

std::shared_ptr<Graph> Builder::net(pugi::xml_node root) {
  check_attributes(root);
  const auto ir_version = version(root);
  if (!ir_version) return nullptr;
  ir_version_ = *ir_version;
  auto result = graph(root, "", 0);
  result->name = root.attribute("name").value();
  flatten_info(root, result->rt_info);
  subtract_means(root, *result);
  return result;
}

std::optional<i64> Builder::version(pugi::xml_node root) {
  const auto n = number(root, "version", 0);
  if (!n) return kNewest;
  if (*n >= kOldest && *n <= kNewest) return n;
  std::vector<Note> notes;
  if (*n < kOldest)
    notes.push_back(
        {"versions before 10 have no operation sets, and OpenVINO has refused them since 2021.1: convert the original "
         "model again with a current OpenVINO",
         {},
         "",
         ""});
  else notes.push_back({"OpenVINO 2026.4 writes version 11", {}, "", ""});
  report(Code::E0601,
         fmt::format("IR version {} is not supported; ovir reads versions {} and {}", *n, kOldest, kNewest),
         value(root.attribute("version")), fmt::format("IR version {}", *n), std::move(notes));
  return std::nullopt;
}

std::shared_ptr<Graph> Builder::graph(pugi::xml_node node, const std::string& path, int depth) {
  auto result = std::make_shared<Graph>();
  result->ir_version = ir_version_;
  result->source = source_;
  result->weights_path = weights_path_;
  result->weights = weights_;
  const auto layers = node.child("layers"), list = node.child("edges");
  const auto outer_layer = std::exchange(in_layer_, {});
  const auto outer_path = std::exchange(path_, path);
  for (const auto child : layers.children("layer")) {
    auto& last = result->layers.emplace_back(layer(child, depth));
    if (last.id >= 0) continue;
    last.id = -std::ssize(result->layers);  // no edge can mean it
    result->damaged = true;
  }
  in_layer_ = outer_layer;
  path_ = outer_path;
  edges(list, *result);
  for (const auto& [part, name] : {std::pair{layers, "layers"}, std::pair{list, "edges"}}) {
    if (part) continue;
    report(Code::E0103, fmt::format("<{}> has no <{}>", node.name(), name), tag(node));
    result->damaged = true;
  }
  return result;
}

Layer Builder::layer(pugi::xml_node node, int depth) {
  Layer result;
  result.at = tag(node);
  result.id_text = node.attribute("id").value();
  in_layer_ = node;
  faulty_ = false;
  check_attributes(node);
  result.id = number(node, "id", 0).value_or(-1);
  result.name = text(node, "name");
  result.type = text(node, "type");
  result.version = text(node, "version");
  if (ir_version_ > kOldest) result.output_names = tensor_names(node.attribute("output_names").value());
  if (const auto child = node.child("data")) data(child, result);
  ports(node.child("input"), true, result);
  ports(node.child("output"), false, result);
  result.damaged = faulty_;
  bodies(node, depth, result);
  return result;
}

void Builder::data(pugi::xml_node node, Layer& layer) {
  check_attributes(node);
  for (const auto attribute : node.attributes())
    layer.attributes.push_back({attribute.name(), attribute.value(), value(attribute)});
}

void Builder::ports(pugi::xml_node list, bool input, Layer& layer) {
  auto& result = input ? layer.inputs : layer.outputs;
  for (const auto node : list.children("port")) {
    in_port_ = PortRef{input, std::ssize(result), parse_number<i64>(node.attribute("id").value()), {}};
    result.push_back(port(node, input));
  }
  in_port_.reset();
}

Port Builder::port(pugi::xml_node node, bool input) {
  Port result;
  result.at = tag(node);
  check_attributes(node);
  result.id = number(node, "id", 0).value_or(-1);
  result.names = tensor_names(node.attribute("names").value());
  // "Input port hasn't precision": what older converters write there is not judged.
  if (const auto precision = node.attribute("precision")) {
    result.declared_type = parse_element_type(precision.value());
    if (!result.declared_type && !input) {
      const auto near = nearest_element_type(precision.value());
      const auto hint = near ? fmt::format("; did you mean \"{}\"?", precision_name(*near)) : "";
      report(Code::E0104,
             fmt::format("precision of <port> must be an element type, but is {}{}", quoted(precision.value()), hint),
             value(precision), {}, {},
             near ? std::vector<Remedy>{{{Change::What::text, {}, std::string(precision_name(*near))}}}
                  : std::vector<Remedy>{});
    }
  } else if (!input) {
    report(Code::E0103, "<port> of an output has no precision", tag(node));
  }
  std::vector<Dim> dims;
  bool known = true;
  for (const auto child : node.children("dim")) {
    const auto d = dim(child);
    known &= d.has_value();
    dims.push_back(d.value_or(Dim{}));
  }
  if (known) result.declared_shape = PartialShape(std::move(dims));
  return result;
}

std::optional<Dim> Builder::dim(pugi::xml_node node) {
  const char* const written = node.child_value();
  const auto whole = without_zero_fraction(trim(written));
  if (const auto n = parse_number<i64>(whole); n && *n >= -1) {
    if (!told_of_fraction_ && whole != trim(written)) {
      told_of_fraction_ = true;
      report(Code::W0908, fmt::format("<dim> must be an integer, but is {}; it is read as {}", quoted(written), *n),
             at(written, std::strlen(written)));
    }
    return *n == -1 ? Dim{} : Dim{*n};
  }
  // "64x", "64,": the number is there.
  const auto text = trim(written);
  const auto digits = text.substr(0, text.find_first_not_of("0123456789"));
  report(Code::E0104, fmt::format("<dim> {}, but is {}", expected_number(written, -1), quoted(written)),
         *written ? at(written, std::strlen(written)) : tag(node), {}, {},
         text == "?"      ? std::vector<Remedy>{{{Change::What::text, {}, "-1"}}}
         : digits.empty() ? std::vector<Remedy>{}
                          : std::vector<Remedy>{{{Change::What::text, {}, std::string(digits)}}});
  return std::nullopt;
}

void Builder::bodies(pugi::xml_node node, int depth, Layer& layer) {
  constexpr std::pair<const char*, const char*> roles[] = {
      {"body", "port_map"}, {"then_body", "then_port_map"}, {"else_body", "else_port_map"}};
  for (const auto& [role, map] : roles) {
    const auto body = node.child(role);
    const auto ports = node.child(map);
    if (!body) {
      if (ports) report(Code::E0208, fmt::format("<{}> needs a <{}>", map, role), tag(ports));
      layer.damaged |= static_cast<bool>(ports);
      continue;
    }
    if (depth >= kDeepest) {
      report(Code::E0208, fmt::format("bodies are nested more than {} levels deep", kDeepest), tag(body));
      layer.damaged = true;
      continue;
    }
    faulty_ = false;
    Body result;
    result.role = role;
    for (const auto child : ports.children())
      if (auto entry = port_map(child)) result.port_map.push_back(std::move(*entry));
    for (const auto child : node.child("back_edges").children("edge")) {
      check_attributes(child);
      const auto from = number(child, "from-layer", 0), to = number(child, "to-layer", 0);
      if (from && to) result.back_edges.push_back({*from, *to, tag(child)});
    }
    layer.damaged |= faulty_;
    result.graph = graph(body, path_ + layer.name + "/" + role + "/", depth + 1);
    layer.bodies.push_back(std::move(result));
  }
}

std::optional<PortMap> Builder::port_map(pugi::xml_node node) {
  const bool input = std::strcmp(node.name(), "input") == 0;
  if (!input && std::strcmp(node.name(), "output") != 0) return std::nullopt;
  constexpr auto any = std::numeric_limits<i64>::min();
  check_attributes(node);
  const auto external = number(node, "external_port_id", -1), internal = number(node, "internal_layer_id", 0);
  const auto start = number(node, "start", any, 0), end = number(node, "end", any, -1);
  const auto stride = number(node, "stride", any, 1), part_size = number(node, "part_size", any, 1);
  const bool sliced = !node.attribute("axis").empty();
  const auto axis = sliced ? number(node, "axis", any) : std::nullopt;
  if (!external || !internal || !start || !end || !stride || !part_size || (sliced && !axis)) return std::nullopt;
  return PortMap{input ? PortMap::Direction::input : PortMap::Direction::output,
                 *external,
                 *internal,
                 axis,
                 *start,
                 *end,
                 *stride,
                 *part_size,
                 node.attribute("purpose").value(),
                 tag(node)};
}

void Builder::edges(pugi::xml_node list, Graph& graph) {
  for (const auto node : list.children("edge")) {
    check_attributes(node);
    const auto from_layer = number(node, "from-layer", 0), from_port = number(node, "from-port", 0);
    const auto to_layer = number(node, "to-layer", 0), to_port = number(node, "to-port", 0);
    if (from_layer && from_port && to_layer && to_port)
      graph.edges.push_back({*from_layer, *from_port, *to_layer, *to_port, tag(node)});
    else graph.damaged = true;
  }
}

}  // namespace ovir::xml
