// ops: the supported operations; of one, the versions with ports, attributes and bodies.
#include <algorithm>
#include <map>

#include <fmt/ranges.h>

#include "base/text.hpp"
#include "command.hpp"
#include "op/known_types.hpp"
#include "render/json.hpp"
#include "tools/select.hpp"

namespace ovir::app::commands::ops {
namespace {

struct Options {
  std::string format = "human", name;
};

/// "opset1..opset3", "opset8…".
std::string sets(const Version& v, int last) {
  return last == kNewestOpset ? fmt::format("opset{}..", v.since) : fmt::format("opset{}..{}", v.since, last);
}

/// The last opset that holds a version: its own end, or the one before the next version.
int last_set(const OpDef& op, const Version& v) {
  if (v.until != 0) return v.until;
  int last = kNewestOpset;
  for (const auto& other : op.versions)
    if (other.since > v.since) last = std::min(last, other.since - 1);
  return last;
}

/// An operation, and the operation set that its versions are wanted of; 0: all versions.
struct Found {
  const OpDef* op;
  int set = 0;
  bool has(const Version& v) const { return set == 0 || (v.since <= set && set <= last_set(*op, v)); }
};

std::string type_list(TypeSet domain) {
  std::string list;
  for (int t = 0; t < kElementTypeCount; ++t)
    if (contains(domain, static_cast<ElementType>(t)) && t != 0)
      list += fmt::format("{}{}", list.empty() ? "" : " ", name(static_cast<ElementType>(t)));
  return list;
}

/// A set by its word where it has one.
std::string type_words(TypeSet domain) {
  constexpr TypeSet all = kAnyType & ~set_of(ElementType::dynamic);
  constexpr std::pair<TypeSet, std::string_view> words[] = {{all, "any"},
                                                            {kNumeric, "numeric"},
                                                            {kNumeric | kBoolean, "numeric boolean"},
                                                            {kFloat | kInteger, "float integer"},
                                                            {kFloat, "float"},
                                                            {kInteger, "integer"}};
  for (const auto& [set, word] : words)
    if ((domain & all) == set) return std::string(word);
  return type_list(domain);
}

std::string_view arity(Arity a) {
  switch (a) {
    case Arity::one: return "";
    case Arity::optional: return "optional";
    case Arity::variadic: return "one or more";
    case Arity::mixed: return "none or more";
  }
  return "";
}

Json ports_json(std::span<const PortDef> ports) {
  Json list = Json::array();
  for (const auto& p : ports) {
    Json types = Json::array();
    for (int t = 1; t < kElementTypeCount; ++t)
      if (contains(p.type.domain, static_cast<ElementType>(t))) types.push_back(name(static_cast<ElementType>(t)));
    list.push_back({{"name", p.name},
                    {"type", p.type.name},
                    {"element_types", std::move(types)},
                    {"optional", p.arity == Arity::optional},
                    {"variadic", is_endless(p)}});
  }
  return list;
}

/// "operation-specs/movement/roll-7".
std::string spec_name(const OpDef& op, const Version& v) { return "operation-specs/" + spec_of(op, v); }

bool runs(const OpDef& op, const Version& v) { return v.eval != nullptr || op.kind != Kind::compute; }

/// "int", "enum", "float[]".
std::string type_of(const AttributeDef& a) { return fmt::format("{}{}", name(a.kind), a.list ? "[]" : ""); }

Json attributes_json(const AttributeTable& table) {
  Json list = Json::array();
  for (const auto& a : table.defs) {
    Json attribute{{"name", a.name}, {"type", type_of(a)}, {"required", a.presence == kRequired}};
    if (!a.words.empty()) attribute["words"] = a.words;
    if (const auto value = table.default_of(a)) attribute["default"] = *value;
    list.push_back(std::move(attribute));
  }
  return list;
}

Json as_json(const Found& found) {
  const auto& op = *found.op;
  Json versions = Json::array(), bodies = Json::array();
  for (const auto& v : op.versions)
    if (found.has(v))
      versions.push_back({{"version", v.since},
                          {"since", v.since},
                          {"until", last_set(op, v)},
                          {"runs", runs(op, v)},
                          {"spec", spec_name(op, v)},
                          {"inputs", ports_json(v.inputs)},
                          {"outputs", ports_json(v.outputs)},
                          {"attributes", attributes_json(v.attrs)}});
  for (const auto& b : op.bodies)
    bodies.push_back({{"role", b.role}, {"iterates", b.iterates}, {"counts_iterations", b.counts}});
  return {{"type", op.type}, {"versions", std::move(versions)}, {"bodies", std::move(bodies)}};
}

std::string ports_text(std::string_view heading, std::span<const PortDef> ports) {
  std::string out;
  for (std::size_t p = 0; p < ports.size(); ++p) {
    const auto& port = ports[p];
    out += fmt::format("  {:<10} {:<3} {:<22} {:<12} {}", p == 0 ? heading : "", p, port.name, arity(port.arity),
                       type_words(port.type.domain));
    if (!port.type.name.empty()) out += fmt::format(" ({})", port.type.name);
    out += "\n";
  }
  return out;
}

/// "required", "default 0", or "optional" where an attribute that is left out has no value.
std::string presence(const AttributeTable& table, const AttributeDef& a) {
  if (a.presence == kRequired) return "required";
  const auto value = table.default_of(a);
  if (!value) return "optional";
  return fmt::format("default {}", value->empty() ? "\"\"" : *value);
}

std::string attributes_text(const AttributeTable& table) {
  std::string out;
  for (const auto& a : table.defs) {
    out += fmt::format("  {:<14} {:<30} {:<12} {}\n", out.empty() ? "attributes" : "", a.name, type_of(a),
                       presence(table, a));
    if (!a.words.empty()) out += fmt::format("  {:<14}   {}\n", "", fmt::join(a.words, ", "));
  }
  return out;
}

/// What the elements of a body may say, in the words of the format.
std::string body_text(const BodyDef& body) {
  const auto map = body.role == "body" ? std::string("port_map") : fmt::format("{}_port_map", body.role.substr(0, 4));
  const std::string_view slices = body.iterates ? " axis start end stride part_size" : "";
  const auto line = [](std::string_view element, std::string_view tag, std::string_view attributes) {
    return fmt::format("  {:<14} {:<14} {}\n", element, tag, attributes);
  };
  auto out = fmt::format("  {}\n", body.role);
  out += line(map, "input", fmt::format("external_port_id internal_layer_id{}", slices));
  if (body.counts) out += line("", "input", "external_port_id=\"-1\" internal_layer_id purpose=\"current_iteration\"");
  out += line("", "output", fmt::format("external_port_id internal_layer_id{}", slices));
  if (body.counts)
    out += line("", "output", "external_port_id=\"-1\" internal_layer_id purpose=\"execution_condition\"");
  if (body.iterates) out += line("back_edges", "edge", "from-layer to-layer");
  return out;
}

std::string page(const Found& found, const Style& style) {
  const auto& op = *found.op;
  std::string out;
  for (const auto& v : op.versions) {
    if (!found.has(v)) continue;
    out += fmt::format("{}{}  {}  {}{}\n", out.empty() ? "" : "\n",
                       style(Paint::bold, fmt::format("{}-{}", op.type, v.since)), sets(v, last_set(op, v)),
                       spec_name(op, v), runs(op, v) ? "" : "  (checked, but not run)");
    out += ports_text("inputs", v.inputs) + ports_text("outputs", v.outputs) + attributes_text(v.attrs);
    for (const auto& body : op.bodies) out += body_text(body);
  }
  return out;
}

/// One line each, by family and name.
std::string list_text(const std::vector<Found>& ops, const Style& style) {
  std::map<std::pair<std::string_view, std::string_view>, const OpDef*> sorted;
  for (const auto& [op, set] : ops) sorted[{op->spec.substr(0, op->spec.find('/')), op->type}] = op;
  std::string text;
  std::string_view family;
  std::size_t versions = 0;
  for (const auto& [key, op] : sorted) {
    if (key.first != family) text += fmt::format("{}{}\n", text.empty() ? "" : "\n", style(Paint::bold, key.first));
    family = key.first;
    std::string all;
    for (const auto& v : op->versions)
      all += fmt::format("{}{}{}", all.empty() ? "" : " ", v.since, runs(*op, v) ? "" : "*");
    const auto& newest = *std::max_element(op->versions.begin(), op->versions.end(),
                                           [](const Version& a, const Version& b) { return a.since < b.since; });
    const auto& ports = newest.inputs.empty() ? newest.outputs : newest.inputs;
    text += fmt::format("  {:<52} {:<10} {}\n", op->type, all, ports.empty() ? "" : type_words(ports[0].type.domain));
    versions += op->versions.size();
  }
  return fmt::format("{}\n{}, {}\n", text, counted(ops.size(), "operation"), counted(versions, "version"));
}

/// The operations that NAME, which may be a pattern, stands for; all where there is none.
std::vector<Found> find(const Registry& registry, const std::string& wanted) {
  if (const auto* const op = registry.find(wanted)) return {{op}};
  // As `info` writes a version: Softmax-8.
  if (const auto dash = wanted.rfind('-'); dash != wanted.npos)
    if (const auto set = parse_number<int>(wanted.substr(dash + 1)))
      if (const auto* const op = registry.find(wanted.substr(0, dash))) {
        const Found found{op, *set};
        if (std::ranges::any_of(op->versions, [&](const Version& v) { return found.has(v); })) return {found};
        throw UsageError(*set >= 1 && *set <= kNewestOpset
                             ? fmt::format("{} is not in opset{}", op->type, *set)
                             : fmt::format("unknown operation set {}; expected 1 to {}", *set, kNewestOpset));
      }
  std::vector<Found> found;
  std::vector<std::string_view> names;
  for (const auto* op : registry.ops) {
    names.push_back(op->type);
    if (wanted.empty() || tools::glob_match(lower(wanted), lower(op->type))) found.push_back({op});
  }
  if (!found.empty()) return found;
  if (wanted.find_first_of("*?") != wanted.npos)
    throw UsageError(fmt::format("no operation matches '{}'", printable(wanted)));
  const auto longer = std::count_if(names.begin(), names.end(),
                                    [&](const auto name) { return lower(name).starts_with(lower(wanted)); });
  if (longer > 1) throw UsageError(fmt::format("unknown operation '{0}'; did you mean '{0}*'?", printable(wanted)));
  const auto near = nearest(wanted, names);
  throw UsageError(fmt::format(
      "{} operation '{}'{}", known_type(wanted) ? "unsupported" : "unknown", printable(wanted),
      near && !known_type(wanted) ? fmt::format("; did you mean '{}'?", *near) : "; 'ovir ops' lists the operations"));
}

int ops(const Options& options, const Common& common) {
  const auto found = find(operations(), options.name);
  if (options.format == "json") {
    Json list = Json::array();
    for (const auto& f : found) list.push_back(as_json(f));
    print(json_text({{"schema", 1}, {"operations", std::move(list)}}, 5));
  } else if (found.size() == 1) {
    print(page(found.front(), common.out));
  } else {
    print(list_text(found, common.out));
  }
  return kOk;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  flags.argument("NAME", options->name,
                 "an operation type, such as Convolution; Softmax-8 is only the version of opset8, 'Conv*' a pattern");
  std::vector<std::string> types;
  for (const auto* op : operations().ops) types.emplace_back(op->type);
  flags.offer("NAME", std::move(types));
  flags.format(options->format, "human json");
  return [options](const Common& common) { return ops(*options, common); };
}

}  // namespace

extern constinit const Command command{"ops",
                                       CommandGroup::reference,
                                       "list supported operations; with a NAME, versions, ports, attributes and bodies",
                                       "ovir ops\n"
                                       "ovir ops Convolution\n"
                                       "ovir ops 'Conv*'",
                                       {2, 7},
                                       declare};

}  // namespace ovir::app::commands::ops
