#include "names.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace ovir::app {
namespace {

const Layer& parameter(const Model& model, std::size_t k) { return *model[model.parameters[k]].layer; }

}  // namespace

std::optional<int> find_input(const Model& model, std::string_view name) {
  const auto matching = [&](auto&& matches) -> std::optional<int> {
    for (std::size_t k = 0; k < model.parameters.size(); ++k)
      if (matches(parameter(model, k))) return static_cast<int>(k);
    return std::nullopt;
  };
  const auto by_tensor = matching([&](const Layer& layer) {
    return std::any_of(layer.outputs.begin(), layer.outputs.end(),
                       [&](const Port& p) { return std::find(p.names.begin(), p.names.end(), name) != p.names.end(); });
  });
  if (by_tensor) return by_tensor;
  if (const auto by_layer = matching([&](const Layer& layer) { return layer.name == name; })) return by_layer;
  const auto index = parse_number<std::size_t>(name);
  return index && *index < model.parameters.size() ? std::optional(static_cast<int>(*index)) : std::nullopt;
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += fmt::format("{}\"{}\"", i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", printable(names[i]));
  return out;
}

std::string input_names(const Model& model) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < model.parameters.size(); ++k) names.push_back(model.parameter_name(static_cast<int>(k)));
  return quoted_list(names);
}

std::string unknown_input(const Model& model, std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < model.parameters.size(); ++k) names.push_back(model.parameter_name(static_cast<int>(k)));
  const auto unknown = fmt::format("no input is named \"{}\"", printable(name));
  if (names.empty()) return unknown + "; the model has no inputs";
  if (const auto near = nearest(name, {names.begin(), names.end()}))
    return fmt::format("{}; did you mean \"{}\"?", unknown, printable(*near));
  return fmt::format("{}; the model's {} {}", unknown, names.size() == 1 ? "only input is" : "inputs are",
                     quoted_list(names));
}

bool is_mask(const Model& model, int k) {
  const auto& layer = parameter(model, static_cast<std::size_t>(k));
  auto names = layer.outputs.empty() ? std::vector<std::string>{} : layer.outputs[0].names;
  names.push_back(layer.name);
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return lower(name).find("mask") != name.npos; });
}

}  // namespace ovir::app
