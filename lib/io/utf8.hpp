// UTF-8 and code points.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ovir::io {

/// False, and nothing appended, where `code_point` is no Unicode character.
bool append_utf8(std::string& text, std::uint32_t code_point);
/// The number of characters; nothing where the text is not UTF-8.
std::optional<std::size_t> utf8_length(std::string_view text);
/// Of a text that is UTF-8.
std::u32string utf8_code_points(std::string_view text);

}  // namespace ovir::io
