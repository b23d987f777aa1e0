// Small text helpers: trimming, splitting, strict number parsing, nearest names.
#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/int.hpp"

namespace ovir {

std::string_view trim(std::string_view s);
/// Splits at every `separator`; an empty text gives no parts.
std::vector<std::string_view> split(std::string_view s, char separator);
std::string lower(std::string_view s);
bool equals_ignoring_case(std::string_view a, std::string_view b);

/// The whole of `s` (blanks around it allowed) as a number, or nothing: no trailing text, no overflow.
template <class T>
std::optional<T> parse_number(std::string_view s) {
  s = trim(s);
  if (!s.empty() && s.front() == '+') s.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc{} || end != s.data() + s.size()) return std::nullopt;
  return value;
}

/// Digits, perhaps with a sign: an integer, however long.
bool is_integer(std::string_view s);

/// "1 number", "2 numbers"; `many` where an s does not do: "2 axes".
std::string counted(i64 n, std::string_view one, std::string_view many = {});
template <class N>
std::string counted(N n, std::string_view one, std::string_view many = {}) {
  return counted(static_cast<i64>(n), one, many);
}

/// The candidate nearest to `name` by edit distance, if near enough to be a likely slip of the pen.
std::optional<std::string_view> nearest(std::string_view name, const std::vector<std::string_view>& candidates);

/// `text` made fit for a terminal or a message: control bytes (but tabs), marks of writing direction and invalid UTF-8
/// shown as \xNN.
std::string printable(std::string_view text);

}  // namespace ovir
