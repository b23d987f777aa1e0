// ops: the operations that ovir has, with the versions, ports and attributes of one.
#include <algorithm>

#include "base/text.hpp"
#include "command.hpp"
#include "op/known_types.hpp"
#include "render/json.hpp"

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

std::string_view arity(Arity a) { return a == Arity::one ? "" : a == Arity::optional ? "optional" : "one or more"; }

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
                    {"variadic", p.arity == Arity::variadic}});
  }
  return list;
}

bool runs(const OpDef& op, const Version& v) { return v.eval != nullptr || op.kind != Kind::compute; }

/// "int", "enum", "float[]".
std::string type_of(const AttributeDef& a) { return fmt::format("{}{}", name(a.kind), a.list ? "[]" : ""); }

Json as_json(const OpDef& op) {
  Json versions = Json::array();
  for (const auto& v : op.versions) {
    Json attributes = Json::array();
    for (const auto& a : v.attrs.defs)
      attributes.push_back({{"name", a.name}, {"type", type_of(a)}, {"required", a.presence == kRequired}});
    versions.push_back({{"version", v.since},
                        {"since", v.since},
                        {"until", last_set(op, v)},
                        {"runs", runs(op, v)},
                        {"inputs", ports_json(v.inputs)},
                        {"outputs", ports_json(v.outputs)},
                        {"attributes", std::move(attributes)}});
  }
  return {{"type", op.type}, {"versions", std::move(versions)}};
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

std::string page(const OpDef& op, const Style& style) {
  std::string out;
  for (const auto& v : op.versions) {
    out +=
        fmt::format("{}{}  {}{}\n", out.empty() ? "" : "\n", style(Paint::bold, fmt::format("{}-{}", op.type, v.since)),
                    sets(v, last_set(op, v)), runs(op, v) ? "" : "  (checked, but not run)");
    out += ports_text("inputs", v.inputs) + ports_text("outputs", v.outputs);
    bool first = true;
    for (const auto& a : v.attrs.defs) {
      out += fmt::format("  {:<14} {:<22} {:<12} {}\n", first ? "attributes" : "", a.name,
                         a.presence == kRequired ? "required" : "", type_of(a));
      first = false;
    }
  }
  return out;
}

int ops(const Options& options, const Common& common) {
  const bool json = options.format == "json";
  const auto& registry = operations();
  if (!options.name.empty()) {
    const auto* const op = registry.find(options.name);
    if (!op) {
      std::vector<std::string_view> names;
      for (const auto* known : registry.ops) names.push_back(known->type);
      const auto near = nearest(options.name, names);
      throw UsageError(fmt::format("ovir has no operation '{}'{}", printable(options.name),
                                   known_type(options.name) ? ", though OpenVINO does"
                                   : near                   ? fmt::format("; did you mean {}?", *near)
                                                            : ""));
    }
    if (json) print(json_text({{"schema", 1}, {"operations", Json::array({as_json(*op)})}}, 5));
    else print(page(*op, common.out));
    return kOk;
  }
  Json list = Json::array();
  std::string text;
  std::size_t versions = 0;
  for (const auto* op : registry.ops) {
    if (json) list.push_back(as_json(*op));
    std::string all;
    for (const auto& v : op->versions)
      all += fmt::format("{}{}{}", all.empty() ? "" : " ", v.since, runs(*op, v) ? "" : "*");
    const auto& newest = *std::max_element(op->versions.begin(), op->versions.end(),
                                           [](const Version& a, const Version& b) { return a.since < b.since; });
    const auto& ports = newest.inputs.empty() ? newest.outputs : newest.inputs;
    text += fmt::format("{:<34} {:<10} {}\n", op->type, all, ports.empty() ? "" : type_words(ports[0].type.domain));
    versions += op->versions.size();
  }
  if (json) print(json_text({{"schema", 1}, {"operations", std::move(list)}}, 5));
  else print(fmt::format("{}{}, {}\n", text, count(registry.ops.size(), "operation"), count(versions, "version")));
  return kOk;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  flags.argument("NAME", options->name, "an operation type, such as Convolution");
  flags.format(options->format, "human json");
  return [options](const Common& common) { return ops(*options, common); };
}

}  // namespace

extern constinit const Command command{"ops",
                                       CommandGroup::reference,
                                       "list supported operations; with a NAME, its versions, ports and attributes",
                                       "ovir ops\n"
                                       "ovir ops Convolution",
                                       {2},
                                       declare};

}  // namespace ovir::app::commands::ops
