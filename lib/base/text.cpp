#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/utf8.hpp"

namespace ovir {

namespace {

constexpr bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

/// Texts that are longer are not typed by hand.
constexpr std::size_t kLongestTyped = 256;

/// Edit distance without regard to case that counts two swapped neighbours as one slip; `limit` where it is that much
/// or more. Only prefixes whose lengths differ by less than the limit are compared. Texts up to twice kLongestTyped.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
  std::array<std::size_t, 2 * kLongestTyped + 1> rows[3];
  auto *before = rows[0].data(), *last = rows[1].data(), *row = rows[2].data();
  const auto width = static_cast<std::ptrdiff_t>(b.size() + 1);
  std::fill(before, before + width, limit);
  std::iota(last, last + width, std::size_t{0});
  const auto same = [&](std::size_t i, std::size_t j) { return to_lower(a[i]) == to_lower(b[j]); };
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::fill(row, row + width, limit);
    row[0] = i;
    std::size_t min = i;
    for (std::size_t j = i < limit ? 1 : i + 1 - limit; j <= b.size() && j < i + limit; ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same(i - 1, j - 1) ? 0 : 1)});
      if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1)) row[j] = std::min(row[j], before[j - 2] + 1);
      min = std::min(min, row[j]);
    }
    if (min >= limit) return limit;
    std::swap(before, last);
    std::swap(last, row);
  }
  return std::min(last[b.size()], limit);
}

}  // namespace

std::string_view trim(std::string_view s) {
  while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}

std::vector<std::string_view> split(std::string_view s, char separator) {
  std::vector<std::string_view> parts;
  if (s.empty()) return parts;
  for (;;) {
    const auto end = s.find(separator);
    parts.push_back(s.substr(0, end));
    if (end == s.npos) return parts;
    s.remove_prefix(end + 1);
  }
}

std::string lower(std::string_view s) {
  std::string result(s);
  std::transform(result.begin(), result.end(), result.begin(), to_lower);
  return result;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return to_lower(x) == to_lower(y); });
}

bool is_integer(std::string_view s) {
  if (s.starts_with('-') || s.starts_with('+')) s.remove_prefix(1);
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string counted(i64 n, std::string_view one, std::string_view many) {
  return std::to_string(n) + ' ' + (n == 1 || many.empty() ? std::string(one) : std::string(many)) +
         (n == 1 || !many.empty() ? "" : "s");
}

std::optional<std::string_view> nearest(std::string_view name, const std::vector<std::string_view>& candidates) {
  std::optional<std::string_view> found;
  if (name.size() > kLongestTyped) return found;
  // What all share up to a dot says nothing: "caffe.PriorBoxParameter." of code_type.
  const auto dot = name.rfind('.');
  const auto shared = dot == name.npos ? std::string_view() : name.substr(0, dot + 1);
  const bool prefixed =
      !shared.empty() && std::all_of(candidates.begin(), candidates.end(),
                                     [&](std::string_view candidate) { return candidate.starts_with(shared); });
  if (prefixed) name.remove_prefix(shared.size());
  // A third of the letters may be wrong, as compilers allow.
  std::size_t best = std::max<std::size_t>(name.size(), 3) / 3 + 1;
  for (const auto whole : candidates) {
    const auto candidate = prefixed ? whole.substr(shared.size()) : whole;
    const auto difference = std::max(candidate.size(), name.size()) - std::min(candidate.size(), name.size());
    if (difference >= best) continue;
    // Of one letter any other is a letter away: something must be the same.
    const bool alike = candidate.size() > 1 || lower(candidate) == lower(name);
    if (const auto d = distance(name, candidate, best); alike && d < best) {
      best = d;
      found = whole;
    }
  }
  return found;
}

std::string printable(std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    auto rest = text;
    const auto c = take_code_point(rest);
    if (!c) rest.remove_prefix(1);
    const auto taken = text.substr(0, text.size() - rest.size());
    if (c && is_shown(*c)) {
      result += taken;
    } else {
      for (const char byte : taken)
        result += {'\\', 'x', digits[static_cast<unsigned char>(byte) >> 4], digits[byte & 15]};
    }
    text = rest;
  }
  return result;
}

}  // namespace ovir
