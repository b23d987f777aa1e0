#include "tools/releases.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/text.hpp"
#include "op/known_types.hpp"

namespace ovir::tools {
namespace {

/// The releases in which opset1, opset2, … were whole, by "Available Operation Sets" of OpenVINO's documentation.
/// Empty: in none.
constexpr std::string_view kSets[] = {"2020.1", "2020.2", "2020.4", "2021.1", "2021.2", "2021.3",
                                      "2021.4", "2022.1", "2022.2", "2022.3", "2023.0", "2023.1",
                                      "2023.2", "2024.0", "2024.5", "2026.0", ""};

/// Since opset15 a set grows over several releases, and only the last brings what older sets hold. By the tables in the
/// headers of each release (src/core/include/openvino/opsets).
struct Early {
  int set;
  std::string_view type, release;
};
constexpr Early kEarly[] = {
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
constexpr std::string_view kNone = "9999";  // after every release, in the order of text

std::string_view release_of(std::string_view type, int set) {
  const auto* const early = std::find_if(std::begin(kEarly), std::end(kEarly), [&](const Early& e) {
    return e.set == set && equals_ignoring_case(e.type, type);
  });
  if (early != std::end(kEarly)) return early->release;
  const auto* const known = known_type(type);
  if (set < known->since || (known->until > 0 && set > known->until)) return kNone;
  if (set > static_cast<int>(std::size(kSets)) || kSets[set - 1].empty()) return kNone;
  return kSets[set - 1];
}

/// By release, then by what asks for it.
using Requirements = std::map<std::string_view, std::map<std::string, std::size_t>>;

void collect(const Model& model, Requirements& requirements, std::set<std::string>& extensions) {
  for (const auto& node : model.nodes) {
    const auto& layer = *node.layer;
    const std::string type(node.op ? node.op->type : layer.type);  // of two spellings ("Const") the usual one
    const auto set = layer.version.starts_with("opset") ? parse_number<int>(std::string_view(layer.version).substr(5))
                                                        : std::nullopt;
    if (!set || !known_type(type)) {
      extensions.insert(type);
    } else {
      const bool own = node.version && node.version->since == *set;
      ++requirements[release_of(type, *set)]
                    [own ? fmt::format("{}-{}", type, *set) : fmt::format("{} of {}", type, layer.version)];
    }
    for (const auto& body : node.bodies) collect(*body, requirements, extensions);
  }
}

}  // namespace

LeastRelease least_release(const Model& model) {
  Requirements requirements;
  std::set<std::string> extensions;
  collect(model, requirements, extensions);
  if (model.graph->ir_version >= 11) requirements["2022.1"][fmt::format("IR {}", model.graph->ir_version)] = 0;
  LeastRelease least{kSets[0], {}, {extensions.begin(), extensions.end()}};
  if (requirements.empty() || requirements.rbegin()->first == kSets[0]) return least;
  least.release = requirements.rbegin()->first == kNone ? "" : requirements.rbegin()->first;
  for (const auto& [what, layers] : requirements.rbegin()->second) least.required_by.push_back({what, layers});
  std::stable_sort(least.required_by.begin(), least.required_by.end(),
                   [](const auto& a, const auto& b) { return a.layers > b.layers; });
  return least;
}

std::string to_string(const LeastRelease& least) {
  constexpr std::size_t shown = 3;
  const auto rest = [](std::size_t n) { return n > shown ? fmt::format(" and {} more", n - shown) : std::string(); };
  std::string text = least.release.empty() ? fmt::format("read by no OpenVINO up to {}", kNewestRelease)
                                           : fmt::format("read by OpenVINO {} and later", least.release);
  for (std::size_t i = 0; i < least.required_by.size() && i < shown; ++i) {
    const auto& [what, layers] = least.required_by[i];
    text += fmt::format("{}{}{}", i == 0 ? " (for " : ", ", printable(what),
                        layers > 0 ? " in " + counted(layers, "layer") : "");
  }
  if (!least.required_by.empty()) text += rest(least.required_by.size()) + ")";
  for (std::size_t i = 0; i < least.extensions.size() && i < shown; ++i)
    text += fmt::format("{}{}", i == 0 ? ", with an extension for " : ", ", printable(least.extensions[i]));
  return text + rest(least.extensions.size());
}

}  // namespace ovir::tools
