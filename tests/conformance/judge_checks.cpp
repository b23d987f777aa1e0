// Inferred shapes, and models that must be refused.
#include <algorithm>
#include <fstream>
#include <unordered_map>

#include <fmt/core.h>

#include "base/text.hpp"
#include "judge.hpp"

namespace ovir::conformance {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// True where `got` says at least as much as `wanted` and nothing against it.
bool as_precise(const PartialShape& got, const PartialShape& wanted) {
  if (!wanted.has_rank()) return true;
  if (!got.has_rank() || got.rank() != wanted.rank()) return false;
  for (i64 i = 0; i < got.rank(); ++i)
    if (wanted[i].min > got[i].min || got[i].max > wanted[i].max) return false;
  return true;
}

/// "..5" is OpenVINO's way to write 0..5.
PartialShape their_shape(std::string text) {
  for (std::size_t at = 0; (at = text.find("..", at)) != text.npos; at += 3)
    if (text.compare(at, 3, "...") != 0 && (at == 0 || text[at - 1] == '[' || text[at - 1] == ','))
      text.insert(at++, "0");
  if (const auto shape = parse_shape(text)) return *shape;
  throw std::runtime_error("expected.json holds a shape " + text);
}

/// "E0205 layer 3 relu input 0; E0104": code, layer and port or attribute of each error in order; of a model that is
/// accepted, the same of its warnings.
std::string found_faults(const Diagnostics& diagnostics) {
  std::string text;
  for (const auto& d : diagnostics.all()) {
    if (diagnostics.errors() > 0 && d.severity != Severity::error) continue;
    text += fmt::format("{}{}", text.empty() ? "" : "; ", to_string(d.code));
    if (d.layer) text += fmt::format(" layer {}{} {}", d.layer->path, printable(d.layer->id), printable(d.layer->name));
    if (d.port) text += fmt::format(" {} {}", d.port->input ? "input" : "output", d.port->index);
    if (!d.attribute.empty()) text += fmt::format(" attribute {}", printable(d.attribute));
  }
  return diagnostics.errors() > 0 ? text : text.empty() ? "accepted" : "accepted: " + text;
}

}  // namespace

json read_json(const fs::path& path) {
  std::ifstream in(path);
  return json::parse(in);
}

Loaded load_case(const fs::path& folder) {
  Loaded loaded;
  loaded.model = load((folder / "model.xml").string(), {}, loaded.diagnostics);
  if (loaded.model) loaded.facts = infer(*loaded.model, {}, loaded.diagnostics);
  return loaded;
}

std::string first_error(const Diagnostics& diagnostics) {
  for (const auto& d : diagnostics.all())
    if (d.severity == Severity::error)
      return fmt::format("{}: {}{}", to_string(d.code), d.message,
                         d.layer ? fmt::format(" (layer {})", d.layer->name) : "");
  return "";
}

Fact inferred_fact(const Loaded& loaded, int node, std::size_t port) {
  const auto& n = (*loaded.model)[node];
  const bool sink = n.op && (n.op->kind == Kind::result || n.op->kind == Kind::assign);
  return sink ? loaded.facts.of(n.inputs.at(0)) : loaded.facts.outputs.at(static_cast<std::size_t>(node)).at(port);
}

bool is_case(const fs::path& folder, std::string_view kind) {
  if (kind == "shapes") return fs::exists(folder / "expected.json");
  if (kind == "negative") return fs::exists(folder / "why.json");
  return fs::exists(folder / "expected") && (fs::exists(folder / "case.json") || fs::exists(folder / "meta.json"));
}

Verdict judge_shapes(const fs::path& folder, const Options&) {
  const auto loaded = load_case(folder);
  if (loaded.diagnostics.errors() > 0) return {first_error(loaded.diagnostics)};
  std::unordered_map<std::string, int> nodes;
  for (std::size_t i = 0; i < loaded.model->nodes.size(); ++i)
    nodes[loaded.model->nodes[i].layer->name] = static_cast<int>(i);
  const auto wanted = read_json(folder / "expected.json");
  std::size_t compared = 0;
  for (const auto& layer : wanted.at("layers")) {
    const auto at = nodes.find(layer.at("name").get<std::string>());
    if (at == nodes.end()) {
      // OpenVINO stores the default inputs of LSTMCell-1 and Pad-12 as Constants.
      if (layer.at("type") == "Constant") continue;
      return {"there is no layer " + layer.dump(), compared};
    }
    for (std::size_t k = 0; k < layer.at("outputs").size(); ++k) {
      const auto& port = layer["outputs"][k];
      const auto got = inferred_fact(loaded, at->second, k);
      const auto place = fmt::format("{}:{}", at->first, k);
      if (const auto type = port.at("element_type").get<std::string>(); name(got.type) != type)
        return {fmt::format("{} type {}, not {}", place, name(got.type), type)};
      const auto shape = port.at("partial_shape").get<std::string>();
      if (!as_precise(got.shape, their_shape(shape)))
        return {fmt::format("{} shape {}, expected {}", place, to_string(got.shape), shape)};
      ++compared;
    }
  }
  return {"", compared};
}

Verdict judge_negative(const fs::path& folder, const Options&) {
  const auto why = read_json(folder / "why.json");
  const auto stage = why.value("stage", "");
  const auto loaded = load_case(folder);
  const auto found = found_faults(loaded.diagnostics);
  if (loaded.diagnostics.errors() == 0) {
    // compile_model: often a limit of OpenVINO's plugin, not a fault; crash: two attributes that have defaults.
    const bool may_pass = stage == "accepted" || stage == "compile_model" || stage == "crash";
    return {may_pass ? "" : "accepted, though: " + why.value("reason", ""), 1, found};
  }
  bool placed = false;
  for (const auto& d : loaded.diagnostics.all()) {
    if (d.severity != Severity::error) continue;
    const auto status = info(d.code).exit_status;
    if (status != 3 && status != 4 && status != 7)
      return {fmt::format("{} exits with {}", to_string(d.code), status), 1, found};
    placed |= d.at.file && !d.message.empty();
  }
  return {placed ? "" : "no place named for: " + why.value("reason", ""), 1, found};
}

}  // namespace ovir::conformance
