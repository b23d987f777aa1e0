#include "io/utf8.hpp"

namespace ovir::io {

namespace {

constexpr bool is_character(std::uint32_t c) { return c < 0xD800 || (c >= 0xE000 && c <= 0x10FFFF); }

/// Takes one character off the front; nothing where there is none.
std::optional<std::uint32_t> take(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC0 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF8 ? 4
                                            : 0;
  if (length == 0 || text.size() < length) return std::nullopt;
  std::uint32_t c = length == 1 ? first : first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return std::nullopt;
    c = c << 6 | (next & 0x3Fu);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};  // one form only: the shortest
  if (!is_character(c) || c < least[length]) return std::nullopt;
  text.remove_prefix(length);
  return c;
}

}  // namespace

bool append_utf8(std::string& text, std::uint32_t c) {
  if (!is_character(c)) return false;
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) text += static_cast<char>(c);
  else if (c < 0x800) text += static_cast<char>(0xC0 | c >> 6), tail(0);
  else if (c < 0x10000) text += static_cast<char>(0xE0 | c >> 12), tail(6), tail(0);
  else text += static_cast<char>(0xF0 | c >> 18), tail(12), tail(6), tail(0);
  return true;
}

std::optional<std::size_t> utf8_length(std::string_view text) {
  std::size_t n = 0;
  for (; !text.empty(); ++n)
    if (!take(text)) return std::nullopt;
  return n;
}

std::u32string utf8_code_points(std::string_view text) {
  std::u32string all;
  while (!text.empty()) {
    const auto c = take(text);
    if (!c) break;
    all += static_cast<char32_t>(*c);
  }
  return all;
}

}  // namespace ovir::io
