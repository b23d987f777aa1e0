#include "xml/names.hpp"

#include <unordered_set>

#include "base/text.hpp"

namespace ovir::xml {

namespace {

constexpr int kDeepest = 32;

/// <x value="1"/>, or since 2023 <info name="x" value="1"/> for names that XML does not allow.
std::string entry_name(pugi::xml_node node) {
  const auto name = node.attribute("name");
  return name ? name.value() : node.name();
}

void flatten(pugi::xml_node node, const std::string& path, int depth, std::vector<InfoEntry>& entries) {
  bool nested = false;
  for (const auto child : node.children()) {
    if (child.type() != pugi::node_element) continue;
    nested = true;
    if (depth < kDeepest) flatten(child, path + "/" + entry_name(child), depth + 1, entries);
  }
  if (const auto value = node.attribute("value")) entries.push_back({path, value.value()});
  else if (const auto unset = node.attribute("unset_cli_parameters")) entries.push_back({path, unset.value()});
  else if (!nested && *node.child_value()) entries.push_back({path, std::string(trim(node.child_value()))});
}

}  // namespace

std::vector<std::string> tensor_names(std::string_view list) {
  std::vector<std::string> names;
  if (list.find(',') == list.npos) {
    if (!list.empty()) names.emplace_back(list);
    return names;
  }
  std::unordered_set<std::string> seen;
  std::string name;
  const auto finish = [&] {
    if (!name.empty() && seen.insert(name).second) names.push_back(name);
    name.clear();
  };
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '\\' && list.substr(i + 1).starts_with(',')) name += list[++i];
    else if (list[i] == ',') finish();
    else name += list[i];
  }
  finish();
  return names;
}

void flatten_info(pugi::xml_node net, std::vector<InfoEntry>& entries) {
  if (const auto info = net.child("rt_info")) {
    for (const auto child : info.children()) flatten(child, entry_name(child), 0, entries);
    return;
  }
  // The old places, under the names that OpenVINO gives them today.
  for (const auto child : net.child("meta_data").children()) {
    const std::string name = entry_name(child);
    flatten(child, name == "cli_parameters" ? "conversion_parameters" : name, 0, entries);
  }
  if (const auto quantization = net.child("quantization_parameters")) flatten(quantization, "optimization", 0, entries);
}

}  // namespace ovir::xml
