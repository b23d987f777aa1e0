// UTF-8 and code points.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ovir {

/// Takes one code point off the front of a text that is not empty; nothing, and `text` as it was, where its first
/// bytes are not UTF-8 (overlong forms and surrogates are not).
std::optional<char32_t> take_code_point(std::string_view& text);
/// False, and nothing appended, where `code_point` is a surrogate or beyond U+10FFFF.
bool append_utf8(std::string& text, char32_t code_point);
/// All code points; nothing where the text is not UTF-8.
std::optional<std::u32string> code_points(std::string_view text);
/// Whether a terminal shows it as it is: not control characters (but tabs), which could drive it, nor marks of writing
/// direction, which could reorder what is read.
bool is_shown(char32_t code_point);
/// How many there are. Of a text that is not UTF-8, the bytes that continue no code point.
std::size_t count_code_points(std::string_view text);

}  // namespace ovir
