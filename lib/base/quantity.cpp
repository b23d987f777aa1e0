#include "base/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.hpp"

namespace ovir {

std::string size_text(i64 bytes) {
  constexpr std::array<std::string_view, 6> units{"kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1'000) return counted(bytes, "byte");
  auto value = static_cast<double>(bytes) / 1e3;
  std::size_t unit = 0;
  // 999.95 would be printed as 1000.0.
  for (; value >= 999.95 && unit + 1 < units.size(); ++unit) value /= 1e3;
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string duration_text(double ms) {
  constexpr std::array<std::string_view, 4> units{"ns", "us", "ms", "s"};
  auto value = ms * 1e6;
  std::size_t unit = 0;
  // 999.5 would be printed as 1e+03.
  for (; value >= 999.5 && unit + 1 < units.size(); ++unit) value /= 1e3;
  return value < 999.5 ? fmt::format("{:.3g} {}", value, units[unit]) : fmt::format("{:.0f} {}", value, units[unit]);
}

TimeUnit time_unit(double ms) { return ms < 0.1 ? TimeUnit{"us", 1000} : TimeUnit{"ms", 1}; }

std::optional<double> parse_quantity(std::string_view text) {
  text = trim(text);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  auto unit = lower(trim(text.substr(end - text.data())));
  if (unit.ends_with('b')) unit.pop_back();
  const bool binary = unit.size() == 2 && unit[1] == 'i';
  if (binary) unit.pop_back();
  constexpr std::array<std::string_view, 5> prefixes{"", "k", "m", "g", "t"};
  const auto* const prefix = std::find(prefixes.begin(), prefixes.end(), unit);
  if (error != std::errc{} || !std::isfinite(number) || prefix == prefixes.end()) return std::nullopt;
  return number * std::pow(binary ? 1024 : 1000, prefix - prefixes.begin());
}

std::optional<double> parse_duration(std::string_view text) {
  constexpr std::pair<std::string_view, double> units[] = {{"", 1},   {"ms", 1e-3}, {"s", 1},
                                                           {"m", 60}, {"min", 60},  {"h", 3600}};
  const auto digits = text.substr(0, text.find_first_not_of("0123456789."));
  const auto number = parse_number<double>(digits);
  const auto* const unit = std::find_if(std::begin(units), std::end(units), [&](const auto& u) {
    return equals_ignoring_case(u.first, text.substr(digits.size()));
  });
  if (!number || unit == std::end(units) || !(*number > 0)) return std::nullopt;
  return *number * unit->second;
}

}  // namespace ovir
