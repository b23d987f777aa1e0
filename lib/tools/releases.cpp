#include "tools/releases.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "op/known_types.hpp"
#include "op/lookup.hpp"

namespace ovir::tools {
namespace {

/// The releases in which opset1, opset2, … were whole, by "Available Operation Sets" of OpenVINO's documentation.
/// Empty: in none.
constexpr std::string_view kSets[] = {"2020.1", "2020.2", "2020.4", "2021.1", "2021.2", "2021.3",
                                      "2021.4", "2022.1", "2022.2", "2022.3", "2023.0", "2023.1",
                                      "2023.2", "2024.0", "2024.5", "2026.0", ""};

/// All releases since the first operation set.
constexpr std::string_view kReleases[] = {
    "2020.1", "2020.2", "2020.3", "2020.4", "2021.1", "2021.2", "2021.3", "2021.4", "2022.1", "2022.2", "2022.3",
    "2023.0", "2023.1", "2023.2", "2023.3", "2024.0", "2024.1", "2024.2", "2024.3", "2024.4", "2024.5", "2024.6",
    "2025.0", "2025.1", "2025.2", "2025.3", "2025.4", "2026.0", "2026.1", "2026.2", "2026.3", "2026.4"};

/// Where a set came or was filled otherwise: opset2 lacks some of opset1, opset13 grew after its first release, and
/// since opset15 a set grows over several releases, of which only the last brings what older sets hold. Tried with the
/// wheels of 2022.1 to 2026.4, a model for each type and set; see tests/unit/releases_test.cpp.
struct Exception {
  int set;
  std::string_view type, release;
};
constexpr Exception kExceptions[] = {
    {2, "RNNCell", kNoRelease},
    {2, "Reverse", kNoRelease},
    {2, "ShuffleChannels", kNoRelease},
    {2, "Xor", kNoRelease},
    {3, "Reverse", kNoRelease},
    {3, "Xor", kNoRelease},
    {13, "FakeConvert", "2023.3"},
    {13, "ScaledDotProductAttention", "2023.3"},
    {15, "Parameter", "2024.2"},
    {15, "Convert", "2024.2"},
    {15, "ShapeOf", "2024.2"},
    {15, "Col2Im", "2024.2"},
    {15, "EmbeddingBagOffsets", "2024.2"},
    {15, "EmbeddingBagPacked", "2024.2"},
    {15, "ROIAlignRotated", "2024.2"},
    {15, "ScatterNDUpdate", "2024.2"},
    {15, "BitwiseLeftShift", "2024.4"},
    {15, "BitwiseRightShift", "2024.4"},
    {15, "SliceScatter", "2024.4"},
    {15, "StringTensorPack", "2024.4"},
    {15, "StringTensorUnpack", "2024.4"},
    {16, "Parameter", "2025.0"},
    {16, "Convert", "2025.0"},
    {16, "ShapeOf", "2025.0"},
    {16, "Identity", "2025.0"},
    {16, "ISTFT", "2025.1"},
    {16, "SegmentMax", "2025.1"},
    {16, "SparseFillEmptyRows", "2025.2"},
    {16, "AvgPool", "2025.3"},
    {16, "OneHot", "2025.4"},
    {17, "Parameter", "2026.2"},
    {17, "Convert", "2026.2"},
    {17, "ShapeOf", "2026.2"},
    {17, "ErfInv", "2026.2"},
    {17, "GroupedMatMul", "2026.3"},
    {17, "BGRtoNV12", "2026.4"},
    {17, "RGBtoNV12", "2026.4"},
};
/// Element types that came after 2022.1; tried as those of a Parameter and of a Constant.
constexpr std::pair<ElementType, std::string_view> kTypes[] = {
    {ElementType::nf4, "2023.2"},    {ElementType::string, "2023.3"}, {ElementType::f8e4m3, "2024.0"},
    {ElementType::f8e5m2, "2024.0"}, {ElementType::u2, "2024.1"},     {ElementType::u3, "2024.1"},
    {ElementType::u6, "2024.1"},     {ElementType::f4e2m1, "2024.3"}, {ElementType::f8e8m0, "2024.3"}};

/// The element types that a layer names: in its attributes and as those of its outputs.
std::set<ElementType> types_of(const Node& node) {
  std::set<ElementType> types;
  for (const auto& port : node.layer->outputs)
    if (port.declared_type) types.insert(*port.declared_type);
  if (!node.version || node.op->type == "FakeConvert") return types;  // its destination_type is a word of its own
  for (const auto& def : node.version->attrs.defs)
    if (def.kind == AttributeKind::element_type)
      if (const auto* given = node.layer->attribute(def.name))
        if (const auto type = parse_element_type(given->value)) types.insert(*type);
  return types;
}

/// Two spellings of a type ("Const") are one; the usual one is given.
std::string type_of(const Node& node) { return std::string(node.op ? node.op->type : node.layer->type); }

/// What older readers refuse of operations that they have.
std::optional<Demand> habit(const Model& model, const Node& node) {
  if (!node.op) return std::nullopt;
  const auto kind = node.op->kind;
  if (node.version && node.version->since == 6 && node.op->type == "ReadValue" && node.layer->inputs.empty())
    return Demand{"2023.3", "ReadValue without an initial value", &model, &node};
  // Without a number of boxes there are none, and its output is empty.
  if (node.version && node.version->since < 5 && node.op->type == "NonMaxSuppression" && node.layer->inputs.size() < 3)
    return Demand{"2023.2", "NonMaxSuppression without a number of boxes", &model, &node};
  if (node.op->type == "ScaledDotProductAttention" && node.layer->inputs.size() > 5)
    return Demand{"2025.4", "ScaledDotProductAttention with a sink", &model, &node};
  const auto* element = kind == Kind::constant ? node.layer->attribute("element_type") : nullptr;
  if (element && parse_element_type(element->value) == ElementType::string)
    return Demand{"2024.0", "a string constant", &model, &node};
  if (!model.path.empty() || (kind != Kind::parameter && kind != Kind::result)) return std::nullopt;
  const auto& ports = kind == Kind::parameter ? node.layer->outputs : node.layer->inputs;
  if (ports.empty() || !ports[0].declared_shape || !ports[0].declared_shape->is_static()) return std::nullopt;
  const auto shape = ports[0].declared_shape->to_shape();
  if (std::find(shape.begin(), shape.end(), 0) == shape.end()) return std::nullopt;
  return Demand{"2023.2", kind == Kind::parameter ? "an empty input" : "an empty output", &model, &node};
}

/// Older readers do not recognize a model that ends in the part of a file that they look at.
bool is_tiny(const Graph& graph) {
  constexpr std::size_t looked_at = 512;
  constexpr std::string_view end = "</net>";
  if (!graph.source) return false;
  const auto at = graph.source->text.rfind(end);
  return at != graph.source->text.npos && at + end.size() <= looked_at;
}

/// The set that the layer names, be it one of the future.
std::optional<int> set_of(const Layer& layer) {
  if (const auto set = opset_number(layer.type, layer.version)) return set;
  if (!layer.version.starts_with("opset")) return std::nullopt;
  return parse_number<int>(std::string_view(layer.version).substr(5));
}

/// Layers with the name of an earlier one of their graph. Older readers take only Results of that kind.
std::set<const Layer*> repeated_names(const Graph& graph) {
  std::set<std::string_view> names;
  std::set<const Layer*> repeated;
  for (const auto& layer : graph.layers)
    if (!names.insert(layer.name).second && layer.type != "Result") repeated.insert(&layer);
  return repeated;
}

void collect(const Model& model, std::vector<Demand>& list) {
  const auto repeated = repeated_names(*model.graph);
  for (const auto& node : model.nodes) {
    if (repeated.contains(node.layer)) list.push_back({"2024.1", "a repeated layer name", &model, &node});
    const auto type = type_of(node);
    if (const auto set = set_of(*node.layer); set && known_type(type)) {
      const bool own = node.version && node.version->since == *set;
      list.push_back({release_of(type, *set),
                      own ? fmt::format("{}-{}", type, *set) : fmt::format("{} of {}", type, node.layer->version),
                      &model, &node});
    }
    for (const auto element : types_of(node))
      for (const auto& [young, release] : kTypes)
        if (young == element) list.push_back({release, std::string(name(element)), &model, &node});
    if (const auto demand = habit(model, node)) list.push_back(*demand);
    for (const auto& body : node.bodies) collect(*body, list);
  }
}

void collect_extensions(const Model& model, std::set<std::string>& extensions) {
  for (const auto& node : model.nodes) {
    const auto type = type_of(node);
    if (!set_of(*node.layer) || !known_type(type)) extensions.insert(type);
    for (const auto& body : node.bodies) collect_extensions(*body, extensions);
  }
}

}  // namespace

std::string_view release_of(std::string_view type, int set) {
  const auto* const exception = std::find_if(std::begin(kExceptions), std::end(kExceptions), [&](const Exception& e) {
    return e.set == set && equals_ignoring_case(e.type, type);
  });
  if (exception != std::end(kExceptions)) return exception->release;
  const auto* const known = known_type(type);
  if (!known || set < known->since || (known->until > 0 && set > known->until)) return kNoRelease;
  if (set > std::ssize(kSets) || kSets[set - 1].empty()) return kNoRelease;
  return kSets[set - 1];
}

bool is_release(std::string_view name) {
  return std::find(std::begin(kReleases), std::end(kReleases), name) != std::end(kReleases);
}

std::vector<Demand> demands(const Model& model) {
  std::vector<Demand> list;
  collect(model, list);
  if (model.graph->ir_version >= 11) list.push_back({"2022.1", fmt::format("IR {}", model.graph->ir_version)});
  if (is_tiny(*model.graph)) list.push_back({"2024.5", "an .xml that ends within its first 512 bytes"});
  return list;
}

MinimumRelease minimum_release(const Model& model) {
  std::map<std::string_view, std::map<std::string, std::size_t>> requirements;  // by release, then by what asks for it
  for (const auto& demand : demands(model)) requirements[demand.release][demand.what] += demand.node ? 1 : 0;
  std::set<std::string> extensions;
  collect_extensions(model, extensions);
  MinimumRelease minimum{kSets[0], {}, {extensions.begin(), extensions.end()}};
  if (requirements.empty() || requirements.rbegin()->first == kSets[0]) return minimum;
  minimum.release = requirements.rbegin()->first == kNoRelease ? "" : requirements.rbegin()->first;
  for (const auto& [what, layers] : requirements.rbegin()->second) minimum.required_by.push_back({what, layers});
  std::stable_sort(minimum.required_by.begin(), minimum.required_by.end(),
                   [](const auto& a, const auto& b) { return a.layers > b.layers; });
  return minimum;
}

std::string to_string(const MinimumRelease& minimum) {
  constexpr std::size_t shown = 3;
  const auto rest = [](std::size_t n) { return n > shown ? fmt::format(" and {} more", n - shown) : std::string(); };
  std::string text = minimum.release.empty() ? fmt::format("read by no OpenVINO up to {}", kNewestRelease)
                                             : fmt::format("read by OpenVINO {} and later", minimum.release);
  for (std::size_t i = 0; i < minimum.required_by.size() && i < shown; ++i) {
    const auto& [what, layers] = minimum.required_by[i];
    text += fmt::format("{}{}{}", i == 0 ? " (for " : ", ", printable(what),
                        layers > 0 ? " in " + counted(layers, "layer") : "");
  }
  if (!minimum.required_by.empty()) text += rest(minimum.required_by.size()) + ")";
  for (std::size_t i = 0; i < minimum.extensions.size() && i < shown; ++i)
    text += fmt::format("{}{}", i == 0 ? ", with an extension for " : ", ", printable(minimum.extensions[i]));
  return text + rest(minimum.extensions.size());
}

}  // namespace ovir::tools
