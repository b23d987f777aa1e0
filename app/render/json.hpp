// JSON on its way to stdout or a file.
#pragma once
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace ovir::tools {
struct MinimumRelease;
}

namespace ovir::app {

using Json = nlohmann::ordered_json;

/// Lists and objects down to `levels` have a line an entry; what lies deeper stays on the line of its entry.
/// Bytes that are not UTF-8 become U+FFFD.
std::string json_text(const Json& json, int levels);

/// A layer id: the number that the file's text is, else the text.
Json id_json(std::string_view text);

/// Adds "least_openvino", the least release that reads the model, and "least_openvino_for", what asks for it.
void add_release(Json& to, const tools::MinimumRelease& minimum);

}  // namespace ovir::app
