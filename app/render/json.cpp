#include "render/json.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/core.h>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "tools/releases.hpp"

namespace ovir::app {
namespace {

/// JSON text may hold what a terminal must not get; only strings have it, and there it can be escaped.
std::string escaped(std::string text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < '\x7F'; })) return text;
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const auto before = rest;
    const auto c = take_code_point(rest);
    if (c && !is_shown(*c)) out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(*c));
    else out += before.substr(0, before.size() - rest.size());
  }
  return out;
}

std::string flat(const Json& json) {
  return escaped(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

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
  const auto n = parse_number<i64>(text);
  return n ? Json(*n) : Json(std::string(text));
}

void add_release(Json& to, const tools::MinimumRelease& minimum) {
  to["least_openvino"] =
      minimum.release.empty() ? fmt::format("newer than {}", tools::kNewestRelease) : std::string(minimum.release);
  Json what = Json::array();
  for (const auto& required : minimum.required_by) {
    what.push_back({{"what", required.what}});
    if (required.layers > 0) what.back()["layers"] = required.layers;
  }
  to["least_openvino_for"] = std::move(what);
  if (!minimum.extensions.empty()) to["extensions"] = minimum.extensions;
}

}  // namespace ovir::app
