// Diagnostics for programs: JSON (check.schema.json), SARIF 2.1.0, annotations of GitHub Actions.
#include <fmt/core.h>

#include "ovir.hpp"
#include "render/diagnostics.hpp"
#include "render/json.hpp"

namespace ovir::app {
namespace {

/// A path as a URI reference: what a URI reserves is escaped; an absolute path gets its scheme.
std::string uri(std::string_view path) {
  constexpr std::string_view plain = "-._~/";
  std::string out = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool keep =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || plain.find(c) != plain.npos;
    out += keep ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

void add_place(Json& to, const Places::Place& place) {
  to["file"] = place.file;
  if (place.line == 0) return;
  to["line"] = place.line;
  to["column"] = place.column;
}

/// The places around a stretch of text that may span lines.
std::pair<Places::Place, Places::Place> ends(const SourceLoc& at, Places& places) {
  return {places(at), places({at.file, at.offset + at.length, 0})};
}

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += i + k > bytes.size() ? '=' : kDigits[group >> (18 - 6 * k) & 63];
  }
  return out;
}

/// A change of the .bin, where that of a diagnostic of an .xml is in another file.
bool is_binary(const Diagnostic& d, const Replacement& replacement) {
  return d.at.file && replacement.at.file->path != d.at.file->path;
}

Json as_json(const Diagnostic& d, const Replacement& replacement, Places& places) {
  if (is_binary(d, replacement))
    return {{"file", replacement.at.file->path},
            {"offset", replacement.at.offset},
            {"length", replacement.at.length},
            {"bytes", base64(replacement.text)}};
  const auto [begin, end] = ends(replacement.at, places);
  return {{"file", begin.file},   {"line", begin.line},       {"column", begin.column},
          {"end_line", end.line}, {"end_column", end.column}, {"text", replacement.text}};
}

Json as_json(const Diagnostic& d, Places& places) {
  Json out{{"code", to_string(d.code)}, {"severity", to_string(d.severity)}, {"message", d.message}};
  add_place(out, places(d.at));
  if (!d.label.empty()) out["label"] = d.label;
  if (d.layer)
    out["layer"] = {{"id", id_json(d.layer->id)},
                    {"name", d.layer->path + d.layer->name},
                    {"type", d.layer->type},
                    {"version", d.layer->version}};
  if (d.port) {
    Json port{{"direction", d.port->input ? "input" : "output"}, {"index", d.port->index}};
    if (d.port->id) port["id"] = *d.port->id;
    if (!d.port->name.empty()) port["name"] = d.port->name;
    out["port"] = std::move(port);
  }
  if (!d.attribute.empty()) out["attribute"] = d.attribute;
  Json notes = Json::array();
  for (const auto& note : d.notes) {
    Json entry{{"message", note.message}};
    if (note.at) add_place(entry, places(note.at));
    if (!note.where.empty()) entry["where"] = note.where;
    notes.push_back(std::move(entry));
  }
  out["notes"] = std::move(notes);
  if (!d.help.empty()) out["help"] = d.help;
  for (const auto& replacement : d.fix) out["fix"].push_back(as_json(d, replacement, places));
  return out;
}

Json sarif_location(const Places::Place& place) {
  Json physical{{"artifactLocation", {{"uri", uri(place.file)}}}};
  if (place.line != 0)
    physical["region"] = {{"startLine", place.line}, {"startColumn", place.column}, {"endColumn", place.end_column}};
  return {{"physicalLocation", std::move(physical)}};
}

Json sarif_replacement(const Diagnostic& d, const Replacement& replacement, Places& places) {
  const auto& at = replacement.at;
  if (is_binary(d, replacement))
    return {{"deletedRegion", {{"byteOffset", at.offset}, {"byteLength", at.length}}},
            {"insertedContent", {{"binary", base64(replacement.text)}}}};
  const auto [begin, end] = ends(at, places);
  return {
      {"deletedRegion",
       {{"startLine", begin.line}, {"startColumn", begin.column}, {"endLine", end.line}, {"endColumn", end.column}}},
      {"insertedContent", {{"text", replacement.text}}}};
}

Json sarif_fix(const Diagnostic& d, Places& places) {
  std::map<std::string, Json> changes;  // by file
  for (const auto& replacement : d.fix) {
    auto& change = changes.try_emplace(replacement.at.file->path, Json::array()).first->second;
    change.push_back(sarif_replacement(d, replacement, places));
  }
  Json list = Json::array();
  for (auto& [file, replacements] : changes)
    list.push_back({{"artifactLocation", {{"uri", uri(file)}}}, {"replacements", std::move(replacements)}});
  return {{"description", {{"text", d.help}}}, {"artifactChanges", std::move(list)}};
}

/// What a workflow command reserves: in property values also ',' and ':'.
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%' || c == '\r' || c == '\n' || (property && (c == ',' || c == ':')))
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else out += c;
  }
  return out;
}

/// Calls `f` with every diagnostic but the errors beyond the limit.
template <class F>
void each(const Diagnostics& diagnostics, std::size_t max_errors, F&& f) {
  std::size_t errors = 0;
  for (const auto& d : diagnostics.all())
    if (d.severity != Severity::error || ++errors <= max_errors || max_errors == 0) f(d);
}

Json document(const ModelReport& report) {
  const auto& [diagnostics, options] = report;
  return {{"schema", 1},
          {"tool", {{"name", "ovir"}, {"version", version()}}},
          {"model", options.model},
          {"ok", diagnostics.errors() == 0},
          {"errors", diagnostics.errors()},
          {"warnings", diagnostics.warnings()},
          {"dependents", diagnostics.dependents},
          {"diagnostics", diagnostics_json(report)}};
}

Json sarif_result(const Diagnostic& d, std::size_t rule, Places& places) {
  Json location = sarif_location(places(d.at));
  if (d.layer)
    location["logicalLocations"] = Json::array(
        {{{"name", d.layer->name}, {"fullyQualifiedName", d.layer->path + d.layer->name}, {"kind", "member"}}});
  Json result{{"ruleId", to_string(d.code)},
              {"ruleIndex", rule},
              {"level", to_string(d.severity)},
              {"message", {{"text", d.message}}},
              {"locations", Json::array({std::move(location)})}};
  Json related = Json::array();
  for (const auto& note : d.notes) {
    if (!note.at) continue;
    related.push_back(sarif_location(places(note.at)));
    related.back()["message"] = {{"text", note.message}};
  }
  if (!related.empty()) result["relatedLocations"] = std::move(related);
  if (!d.fix.empty()) result["fixes"] = Json::array({sarif_fix(d, places)});
  return result;
}

Json sarif_rule(Code code) {
  const auto& known = info(code);
  return {{"id", to_string(code)},
          {"shortDescription", {{"text", known.title}}},
          {"fullDescription", {{"text", known.cause}}},
          {"help", {{"text", known.fix}}},
          {"defaultConfiguration", {{"level", to_string(severity(code))}}}};
}

}  // namespace

Json diagnostics_json(const ModelReport& report) {
  Places places(report.options.model);
  Json list = Json::array();
  each(report.diagnostics, report.options.max_errors, [&](const Diagnostic& d) { list.push_back(as_json(d, places)); });
  return list;
}

std::string json(const ModelReport& report) { return json_text(document(report), 3); }

std::string json(const std::vector<ModelReport>& reports) {
  Json models = Json::array();
  bool ok = true;
  for (const auto& report : reports) {
    models.push_back(document(report));
    ok = ok && report.diagnostics.errors() == 0;
  }
  return json_text({{"schema", 1}, {"ok", ok}, {"models", std::move(models)}}, 5);
}

std::string sarif(const std::vector<ModelReport>& reports) {
  Json rules = Json::array(), results = Json::array();
  std::map<Code, std::size_t> rule_index;
  for (const auto& report : reports) {
    Places places(report.options.model);
    each(report.diagnostics, report.options.max_errors, [&](const Diagnostic& d) {
      const auto [rule, added] = rule_index.try_emplace(d.code, rules.size());
      if (added) rules.push_back(sarif_rule(d.code));
      results.push_back(sarif_result(d, rule->second, places));
    });
  }
  Json run{{"tool", {{"driver", {{"name", "ovir"}, {"version", version()}, {"rules", std::move(rules)}}}}},
           {"columnKind", "unicodeCodePoints"},
           {"results", std::move(results)}};
  return json_text({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                    {"version", "2.1.0"},
                    {"runs", Json::array({std::move(run)})}},
                   6);
}

std::string github(const Diagnostics& diagnostics, const ReportOptions& options) {
  Places places(options.model);
  std::string out;
  each(diagnostics, options.max_errors, [&](const Diagnostic& d) {
    const auto place = places(d.at);
    out += fmt::format("::{} file={}", d.severity == Severity::note ? "notice" : to_string(d.severity),
                       escaped(place.file, true));
    if (place.line != 0) out += fmt::format(",line={},col={}", place.line, place.column);
    std::string message = d.message;
    if (d.layer) message += fmt::format(" [{}]", describe(*d.layer));
    for (const auto& note : d.notes) message += "\nnote: " + note.message;
    if (!d.help.empty()) message += "\nhelp: " + d.help;
    out += fmt::format(",title={}::{}\n", to_string(d.code), escaped(message, false));
  });
  return out;
}

}  // namespace ovir::app
