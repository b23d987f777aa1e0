// Integers that are written with a fraction.
#pragma once
#include <string_view>

namespace ovir {

/// "8.0" -> "8". A text that is not an integer with a fraction of zeros stays as it is.
constexpr std::string_view without_zero_fraction(std::string_view text) {
  const auto point = text.find('.');
  if (point == text.npos || point == 0 || text[point - 1] < '0' || text[point - 1] > '9') return text;
  for (const char c : text.substr(point + 1))
    if (c != '0') return text;
  return text.substr(0, point);
}

}  // namespace ovir
