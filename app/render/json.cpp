#include "render/json.hpp"

#include <cstdint>

#include <fmt/core.h>

#include "base/text.hpp"
#include "tools/releases.hpp"

namespace ovir::app {
namespace {

std::string flat(const Json& json) { return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

void write(const Json& json, int levels, std::size_t depth, std::string& out) {
  if (levels == 0 || !json.is_structured() || json.empty()) {
    out += flat(json);
    return;
  }
  const bool object = json.is_object();
  const std::string indent(2 * (depth + 1), ' ');
  out += object ? '{' : '[';
  bool first = true;
  for (const auto& [key, value] : json.items()) {
    out += first ? "\n" : ",\n";
    first = false;
    out += indent;
    if (object) out += flat(Json(key)) + ": ";
    write(value, levels - 1, depth + 1, out);
  }
  out += "\n" + std::string(2 * depth, ' ') + (object ? '}' : ']');
}

}  // namespace

std::string json_text(const Json& json, int levels) {
  std::string out;
  write(json, levels, 0, out);
  return out + "\n";
}

Json id_json(std::string_view text) {
  const auto n = parse_number<std::int64_t>(text);
  return n ? Json(*n) : Json(std::string(text));
}

void add_release(Json& to, const tools::LeastRelease& least) {
  to["least_openvino"] =
      least.release.empty() ? fmt::format("newer than {}", tools::kNewestRelease) : std::string(least.release);
  Json what = Json::array();
  for (const auto& required : least.required_by) {
    what.push_back({{"what", required.what}});
    if (required.layers > 0) what.back()["layers"] = required.layers;
  }
  to["least_openvino_for"] = std::move(what);
  if (!least.extensions.empty()) to["extensions"] = least.extensions;
}

}  // namespace ovir::app
