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

std::string input_names(const Model& model) {
  std::string list;
  for (std::size_t k = 0; k < model.parameters.size(); ++k)
    list += (list.empty() ? "" : ", ") + printable(model.parameter_name(static_cast<int>(k)));
  return list.empty() ? "none" : list;
}

std::string suggest_input(const Model& model, std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < model.parameters.size(); ++k) names.push_back(model.parameter_name(static_cast<int>(k)));
  if (const auto near = nearest(name, {names.begin(), names.end()}))
    return fmt::format("; did you mean \"{}\"?", printable(*near));
  return fmt::format("; it has {}", input_names(model));
}

}  // namespace ovir::app
