#include "names.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/word_list.hpp"

namespace ovir::app {
namespace {

const Layer& parameter(const Model& model, std::size_t k) { return *model[model.parameters[k]].layer; }

}  // namespace

std::optional<int> find_input(const Model& model, std::string_view name) {
  const auto matching = [&](auto&& matches) -> std::optional<int> {
    for (int k = 0; k < std::ssize(model.parameters); ++k)
      if (matches(parameter(model, k))) return k;
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
  std::vector<std::string> quoted;
  for (const auto& name : names) quoted.push_back(fmt::format("\"{}\"", printable(name)));
  return word_list(std::move(quoted));
}

namespace {

/// `kind`: "input" or "output".
std::string unknown(std::string_view kind, const std::vector<std::string>& names, std::string_view name) {
  const auto sentence = fmt::format("no {} is named \"{}\"", kind, printable(name));
  if (names.empty()) return fmt::format("{}; the model has no {}s", sentence, kind);
  if (const auto near = nearest(name, {names.begin(), names.end()}))
    return fmt::format("{}; did you mean \"{}\"?", sentence, printable(*near));
  return fmt::format("{}; the model's {} {}", sentence,
                     names.size() == 1 ? fmt::format("only {} is", kind) : fmt::format("{}s are", kind),
                     quoted_list(names));
}

}  // namespace

std::string input_names(const Model& model) {
  std::vector<std::string> names;
  for (int k = 0; k < std::ssize(model.parameters); ++k) names.push_back(model.parameter_name(k));
  return quoted_list(names);
}

std::string unknown_input(const Model& model, std::string_view name) {
  std::vector<std::string> names;
  for (int k = 0; k < std::ssize(model.parameters); ++k) names.push_back(model.parameter_name(k));
  return unknown("input", names, name);
}

std::optional<int> find_output(const Model& model, std::string_view name) {
  const auto matching = [&](auto&& matches) -> std::optional<int> {
    for (int k = 0; k < std::ssize(model.results); ++k)
      if (matches(k, model[model.results[k]])) return k;
    return std::nullopt;
  };
  const auto has = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto producer = [&](const Node& result) {
    return result.inputs.empty() || result.inputs[0].node < 0 ? nullptr : &model[result.inputs[0].node];
  };
  const auto by_tensor = matching([&](int, const Node& result) {
    const auto* const from = producer(result);
    return has(result.layer->output_names) || (from && has(from->layer->outputs[result.inputs[0].port].names));
  });
  if (by_tensor) return by_tensor;
  const auto by_producer = matching([&](int, const Node& result) {
    const auto* const from = producer(result);
    return from && from->layer->name == name;
  });
  if (by_producer) return by_producer;
  if (const auto own = matching([&](int, const Node& result) { return result.layer->name == name; })) return own;
  const auto index = parse_number<int>(name);
  return index && *index >= 0 && *index < std::ssize(model.results) ? index : std::nullopt;
}

std::string unknown_output(const Model& model, std::string_view name) {
  std::vector<std::string> names;
  for (int k = 0; k < std::ssize(model.results); ++k) names.push_back(model.result_name(k));
  return unknown("output", names, name);
}

bool is_mask(const Model& model, int k) {
  const auto& layer = parameter(model, k);
  auto names = layer.outputs.empty() ? std::vector<std::string>{} : layer.outputs[0].names;
  names.push_back(layer.name);
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return lower(name).find("mask") != name.npos; });
}

}  // namespace ovir::app
