#include "render/array.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include <fmt/core.h>

#include "base/half.hpp"
#include "base/text.hpp"
#include "io/storable.hpp"
#include "tools/numbers.hpp"

namespace ovir::app {
namespace {

constexpr int kPrecision = 8;
constexpr std::size_t kLineWidth = 75;

/// A number's text in two parts, so that the points of a column can be aligned.
struct Parts {
  std::string whole, fraction, exponent;
};

/// The shortest text that reads back as the same T, with at most eight digits behind the point.
template <class T>
std::string shortest(T x, std::chars_format format) {
  char buffer[400];
  const auto write = [&](auto... precision) {
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, x, format, precision...).ptr);
  };
  auto text = write();
  const auto point = text.find('.');
  const auto end = std::min(text.find('e'), text.size());
  if (point != text.npos && end - point - 1 > kPrecision) {
    text = write(kPrecision);
    const auto e = std::min(text.find('e'), text.size());
    auto last = e;
    while (text[last - 1] == '0') --last;
    text.erase(last, e - last);
  }
  return text;
}

/// The decimal number of fewest digits that rounds to this f16: its own digits stand for no precision that it has.
double shortest_half(double x) {
  for (int digits = 0; digits < 5; ++digits) {
    const auto number = parse_number<double>(fmt::format("{:.{}e}", x, digits));
    if (number && static_cast<double>(static_cast<float>(f16(static_cast<float>(*number)))) == x) return *number;
  }
  return x;
}

template <class T>
Parts split_number(double x, bool scientific) {
  const auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  std::string text;
  if constexpr (std::is_same_v<T, f16>) text = shortest(shortest_half(x), format);
  else text = shortest(static_cast<T>(x), format);
  Parts parts;
  if (const auto e = text.find('e'); e != text.npos) {
    parts.exponent = text.substr(e);
    text.resize(e);
  }
  const auto point = text.find('.');
  parts.whole = text.substr(0, point);
  if (point != text.npos) parts.fraction = text.substr(point + 1);
  return parts;
}

/// As NumPy: exponents where the largest has more digits than the type (or eight), the smallest is under 1e-4, or they
/// are three magnitudes apart.
bool wants_exponents(const std::vector<double>& values, double largest_plain) {
  double min = std::numeric_limits<double>::infinity(), max = 0;
  for (const double v : values) {
    if (!std::isfinite(v) || v == 0) continue;
    min = std::min(min, std::fabs(v));
    max = std::max(max, std::fabs(v));
  }
  return max > 0 && (max >= largest_plain || min < 1e-4 || max / min > 1000.);
}

/// With exponents every number has as many digits as the longest needs: of its exact value, as NumPy does.
std::string scientific_text(double x, std::size_t fraction, std::size_t exponent) {
  auto text = fmt::format("{:.{}e}", x, fraction);
  if (fraction == 0) text.insert(text.find('e'), ".");
  const auto digits = text.find('e') + 2;
  return text.insert(digits, exponent - std::min(exponent, text.size() - digits), '0');
}

template <class T>
std::vector<std::string> float_texts(const std::vector<double>& values, double largest_plain) {
  const bool scientific = wants_exponents(values, largest_plain);
  std::vector<Parts> parts(values.size());
  std::size_t whole = 0, fraction = 0, exponent = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    parts[i] = split_number<T>(values[i], scientific);
    whole = std::max(whole, parts[i].whole.size());
    fraction = std::max(fraction, parts[i].fraction.size());
    exponent = std::max(exponent, parts[i].exponent.size());
  }
  std::vector<std::string> texts;
  std::size_t width = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& p = parts[i];
    if (std::isnan(values[i])) texts.push_back("nan");
    else if (std::isinf(values[i])) texts.push_back(values[i] > 0 ? "inf" : "-inf");
    else if (scientific) texts.push_back(scientific_text(values[i], fraction, exponent - 2));
    else texts.push_back(fmt::format("{:>{}}.{:<{}}", p.whole, whole, p.fraction, fraction));
    width = std::max(width, texts.back().size());
  }
  for (auto& t : texts) t.insert(0, width - t.size(), ' ');
  return texts;
}

/// A single number in full: 0.0, 3.25, 1e-05.
template <class T>
std::string scalar_text(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  char buffer[400];
  const double shown = std::is_same_v<T, f16> ? shortest_half(x) : x;
  const bool plain = x == 0 || (std::fabs(x) >= 1e-4 && std::fabs(x) < 1e16);
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto write = [&](auto v) {
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, v, format).ptr);
  };
  const auto text = std::is_same_v<T, float> ? write(static_cast<float>(shown)) : write(shown);
  return plain && text.find('.') == text.npos ? text + ".0" : text;
}

template <class T>
std::vector<std::string> real_texts(const Tensor& t, double largest_plain) {
  const auto values = to_f64(t);
  return t.rank() == 0 ? std::vector<std::string>{scalar_text<T>(values[0])} : float_texts<T>(values, largest_plain);
}

template <class T>
std::vector<std::string> whole_texts(std::span<const T> values) {
  std::vector<std::string> texts;
  std::size_t width = 0;
  for (const T v : values) {
    texts.push_back(std::to_string(v));
    width = std::max(width, texts.back().size());
  }
  for (auto& t : texts) t.insert(0, width - t.size(), ' ');
  return texts;
}

std::vector<std::string> texts_of(const Tensor& t) {
  std::vector<std::string> texts;
  if (t.type() == ElementType::string) {
    for (const auto s : t.values<std::string_view>()) texts.push_back("'" + printable(s) + "'");
    return texts;
  }
  if (t.type() == ElementType::boolean) {
    for (const auto v : t.values<std::uint8_t>()) texts.emplace_back(v == 0 ? "False" : " True");
    return texts;
  }
  if (t.type() == ElementType::f64) return real_texts<double>(t, 1e8);
  if (t.type() == ElementType::f16) return real_texts<f16>(t, 1e3);
  if (is_float(t.type())) return real_texts<float>(t, 1e6);
  if (t.type() == ElementType::u64) return whole_texts(t.values<std::uint64_t>());
  const auto values = to_i64(t);
  return whole_texts(std::span<const i64>(values));
}

std::string nested(const std::vector<std::string>& texts, const Shape& shape, std::size_t axis, std::size_t& at) {
  if (axis == shape.size()) return texts[at++];
  const std::string indent(axis + 1, ' ');
  std::string out = "[";
  if (axis + 1 < shape.size()) {
    for (i64 i = 0; i < shape[axis]; ++i) {
      if (i > 0) out += std::string(shape.size() - axis - 1, '\n') + indent;
      out += nested(texts, shape, axis + 1, at);
    }
    return out + "]";
  }
  std::size_t column = axis + 1;
  for (i64 i = 0; i < shape[axis]; ++i) {
    const auto& text = texts[at++];
    if (i > 0 && column + 1 + text.size() > kLineWidth - axis - 1) {
      out.erase(out.find_last_not_of(' ') + 1);
      out += "\n" + indent;
      column = indent.size();
    } else if (i > 0) {
      out += ' ';
      ++column;
    }
    out += text;
    column += text.size();
  }
  return out + "]";
}

}  // namespace

std::string array_text(const Tensor& value) {
  const auto t = io::storable(value);
  if (t.size() == 0) return t.rank() == 1 ? "[]" : fmt::format("[] of shape {}", to_string(t.shape()));
  auto texts = texts_of(t);
  if (t.rank() == 0) return std::string(trim(texts[0]));
  std::size_t at = 0;
  return nested(texts, t.shape(), 0, at);
}

Summary summarise(const Tensor& value) {
  Summary s;
  double sum = 0;
  i64 n = 0;
  tools::each_number(value, [&](double v) {
    if (std::isnan(v)) {
      ++s.nan;
      return;
    }
    s.infinite += std::isinf(v) ? 1 : 0;
    s.min = std::min(s.min.value_or(v), v);
    s.max = std::max(s.max.value_or(v), v);
    sum += v;
    ++n;
  });
  if (n > 0) s.mean = sum / static_cast<double>(n);
  return s;
}

std::string summary_text(const Summary& s) {
  std::string text = s.mean ? fmt::format("min {:.6g}, max {:.6g}, mean {:.6g}", *s.min, *s.max, *s.mean) : "no values";
  text += fmt::format(", {} NaN", s.nan);
  if (s.infinite > 0) text += fmt::format(", {} infinite", s.infinite);
  return text;
}

std::vector<i64> largest(const std::vector<double>& values, i64 row, i64 length, i64 k) {
  std::vector<i64> order(length);
  std::iota(order.begin(), order.end(), 0);
  const auto at = [&](i64 i) {
    const double v = values[row * length + i];
    return std::isnan(v) ? -std::numeric_limits<double>::infinity() : v;
  };
  const auto count = std::min(k, length);
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](auto a, auto b) { return at(a) != at(b) ? at(a) > at(b) : a < b; });
  order.resize(count);
  return order;
}

}  // namespace ovir::app
