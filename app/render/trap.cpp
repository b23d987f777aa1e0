#include "render/trap.hpp"

#include "render/layer.hpp"

namespace ovir::app {
namespace {

/// A number where JSON has it, else the text: "-inf".
Json value_json(const std::string& text) {
  const auto number = Json::parse(text, nullptr, false);
  return number.is_number() || number.is_boolean() ? number : Json(text);
}

Json index_json(const Shape& index) { return std::vector<i64>(index.begin(), index.end()); }

Json place_json(const tools::Place& place) {
  Json json{{"layer", layer_json(*place.model, (*place.model)[place.node])}, {"port", place.port}};
  json["index"] = index_json(place.index);
  if (!place.value.empty()) json["value"] = value_json(place.value);
  if (!place.iterations.empty()) json["iterations"] = place.iterations;
  return json;
}

}  // namespace

Json trap_json(const tools::TrapEvent& event) {
  Json json{{"schema", 1}, {"trap", tools::kind_of(event.trap).name}};
  json.update(place_json(event.at));
  json["of"] = event.input ? "input" : "output";
  json["operands"] = Json::array();
  for (const auto& operand : event.operands)
    json["operands"].push_back(
        {{"port", operand.port}, {"index", index_json(operand.index)}, {"value", value_json(operand.value)}});
  json["cause"] = event.cause;
  json["origin"] = Json::array();
  for (const auto& step : event.origin) {
    auto place = place_json(step.at);
    if (!step.cause.empty()) place["cause"] = step.cause;
    json["origin"].push_back(std::move(place));
  }
  return json;
}

}  // namespace ovir::app
