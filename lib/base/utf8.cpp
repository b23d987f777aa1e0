#include "base/utf8.hpp"

#include <algorithm>

namespace ovir {

namespace {

constexpr bool is_character(char32_t c) { return c < 0xD800 || (c >= 0xE000 && c <= 0x10FFFF); }
constexpr bool continues(char c) { return (c & 0xC0) == 0x80; }

}  // namespace

std::optional<char32_t> take_code_point(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) {
    text.remove_prefix(1);
    return first;
  }
  const std::size_t length = first < 0xE0 ? 2 : (first < 0xF0 ? 3 : 4);
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return std::nullopt;
  char32_t c = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(text[i])) return std::nullopt;
    c = c << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  }
  constexpr char32_t min[] = {0, 0, 0x80, 0x800, 0x10000};  // one form only: the shortest
  if (!is_character(c) || c < min[length]) return std::nullopt;
  text.remove_prefix(length);
  return c;
}

bool append_utf8(std::string& text, char32_t c) {
  if (!is_character(c)) return false;
  if (c < 0x80) {
    text += static_cast<char>(c);
    return true;
  }
  const int tails = c < 0x800 ? 1 : (c < 0x10000 ? 2 : 3);
  const char32_t mark = 0xF00u >> (tails + 1) & 0xFF;  // 110xxxxx, 1110xxxx, 11110xxx
  text += static_cast<char>(mark | c >> (6 * tails));
  for (int i = tails - 1; i >= 0; --i) text += static_cast<char>(0x80 | (c >> (6 * i) & 0x3F));
  return true;
}

std::optional<std::u32string> code_points(std::string_view text) {
  std::u32string all;
  while (!text.empty()) {
    const auto c = take_code_point(text);
    if (!c) return std::nullopt;
    all += *c;
  }
  return all;
}

bool is_shown(char32_t c) {
  const bool control = (c < 0x20 && c != '\t') || (c >= 0x7F && c < 0xA0);
  const bool direction = (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return !control && !direction;
}

std::size_t count_code_points(std::string_view text) {
  return text.size() - std::count_if(text.begin(), text.end(), continues);
}

}  // namespace ovir
