#include "passes/unknown_attributes.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "model/report.hpp"
#include "op/leftovers.hpp"

namespace ovir::passes {
namespace {

/// The attribute's name, which stands before its value, the quote and the equals sign.
SourceLoc name_of(const Attribute& attribute) {
  auto place = attribute.at;
  if (!place) return place;
  const auto found = place.file->text.substr(0, place.offset).rfind(attribute.name);
  if (found == std::string_view::npos) return place;
  place.offset = found;
  place.length = attribute.name.size();
  return place;
}

/// Another version that has the attribute, and to which the value says something else than leaving it out would: the
/// file may name the wrong operation set.
const Version* version_with(const OpDef& op, const Attribute& given) {
  for (const auto& version : op.versions) {
    const auto* def = version.attrs.find(given.name);
    if (!def) continue;
    const auto read = version.attrs.as_read(*def, given.value), usual = version.attrs.default_of(*def);
    // What is left out may have a default that depends on the rank: zeros, or ones.
    const bool is_usual =
        usual.value_or("").empty() ? given.value.find_first_not_of("01, ") == std::string::npos : read == usual;
    if (read && !is_usual) return &version;
  }
  return nullptr;
}

}  // namespace

void Leftovers::add(const Leftovers& more) {
  if (total == 0) first = more.first;
  total += more.total;
  for (const auto& [name, count] : more.counts) counts[name] += count;
}

void check_unknown_attributes(const Model& model, const Layer& layer, const OpDef& op, const Version& version,
                              Leftovers& leftovers, Diagnostics& diagnostics) {
  const auto known = [&](const Attribute& given) { return version.attrs.find(given.name) != nullptr; };
  for (const auto& given : layer.attributes) {
    if (known(given)) continue;
    const auto* other = version_with(op, given);
    if (!other && is_leftover(op.type, given.name)) {
      if (leftovers.total++ == 0) leftovers.first = name_of(given);
      ++leftovers.counts[given.name];
      continue;
    }
    // A slip in the name of an attribute leaves the layer without that attribute.
    std::vector<std::string_view> missing;
    for (const auto& def : version.attrs.defs)
      if (!layer.attribute(def.name)) missing.push_back(def.name);
    const auto near = other ? std::nullopt : nearest(given.name, missing);
    const auto hint = other  ? fmt::format("; {} of opset{} has it", op.type, other->since)
                      : near ? fmt::format("; did you mean \"{}\"?", *near)
                             : std::string();
    auto d =
        diagnose(Code::W0902, fmt::format("unknown attribute \"{}\" of {}{}", printable(given.name), op.type, hint));
    d.attribute = given.name;
    d.at = name_of(given);
    if (near) d.remedies.push_back({{Change::What::attribute_name, given.name, std::string(*near), 0}});
    report(diagnostics, model, layer, std::move(d));
  }
}

void report_leftovers(const Leftovers& leftovers, Diagnostics& diagnostics) {
  if (leftovers.total == 0) return;
  constexpr std::size_t kNamed = 4;
  std::vector<std::pair<std::string_view, std::size_t>> names(leftovers.counts.begin(), leftovers.counts.end());
  std::stable_sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < kNamed; ++i)
    list += fmt::format("{}\"{}\" ({})", i == 0 ? "" : ", ", names[i].first, names[i].second);
  if (names.size() > kNamed) list += fmt::format(" and {} more names", names.size() - kNamed);
  auto d = diagnose(Code::N0901,
                    fmt::format("{} that older converters left behind {} no effect: {}",
                                counted(leftovers.total, "attribute"), leftovers.total == 1 ? "has" : "have", list),
                    leftovers.first);
  diagnostics.add(std::move(d));
}

}  // namespace ovir::passes
