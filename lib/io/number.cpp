#include "io/number.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/text.hpp"
#include "diag/diagnostic.hpp"

namespace ovir::io {

namespace {

bool in_range(const Number& n, ElementType type) {
  const bool is_signed = contains(kSigned, type);
  const int bits = type == ElementType::boolean ? 1 : bit_width(type);
  if (!n.whole) return type == ElementType::u64 && n.large;
  if (bits == 64) return is_signed || *n.whole >= 0;
  const i64 end = i64{1} << (is_signed ? bits - 1 : bits);
  return *n.whole < end && *n.whole >= (is_signed ? -end : 0);
}

std::string text_of(const Number& n) {
  if (n.large) return std::to_string(*n.large);
  return n.whole ? std::to_string(*n.whole) : fmt::format("{}", n.real);
}

/// A number beyond the range of f64, the widest type: 0 where it is nearer to 0 than any other f64, E0705 where it is
/// larger than all of them. Nothing for any other word.
std::optional<Number> parse_beyond_f64(std::string_view word) {
  auto digits = trim(word);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double unset{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), unset);
  if (error != std::errc::result_out_of_range || end != digits.data() + digits.size()) return std::nullopt;
  const double nearest = std::strtod(std::string(digits).c_str(), nullptr);
  if (std::isinf(nearest)) fail(Code::E0705, "{} is outside the range of every element type", printable(word));
  return Number{nearest, {}, {}};
}

}  // namespace

std::optional<Number> parse_number_word(std::string_view word) {
  if (equals_ignoring_case(word, "true")) return Number{1, 1, {}};
  if (equals_ignoring_case(word, "false")) return Number{0, 0, {}};
  if (const auto n = parse_number<i64>(word)) return Number{static_cast<double>(*n), *n, {}};
  if (const auto n = parse_number<std::uint64_t>(word)) return Number{static_cast<double>(*n), {}, *n};
  const auto real = parse_number<double>(word);
  if (!real) return parse_beyond_f64(word);
  Number n{*real, {}, {}};
  if (*real == std::floor(*real)) {
    if (std::abs(*real) < 0x1p63) n.whole = static_cast<i64>(*real);
    else if (*real > 0 && *real < 0x1p64) n.large = static_cast<std::uint64_t>(*real);
  }
  return n;
}

Tensor tensor_of(ElementType type, const Shape& shape, const std::vector<Number>& numbers) {
  const bool integer = contains(kInteger | kBoolean, type);
  if (!integer) {
    std::vector<double> floats;
    floats.reserve(numbers.size());
    for (const auto& n : numbers) floats.push_back(n.real);
    Tensor out = convert(Tensor::of<double>(ElementType::f64, shape, floats), type);
    const auto kept = to_f64(out);
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (std::isfinite(floats[i]) && !std::isfinite(kept[i]))
        fail(Code::E0705, "{} is outside the range of {}", floats[i], name(type));
    return out;
  }
  std::vector<i64> values;
  values.reserve(numbers.size());
  for (const auto& n : numbers) {
    if (!in_range(n, type)) fail(Code::E0705, "{} does not fit in {}", text_of(n), name(type));
    values.push_back(n.whole ? *n.whole : static_cast<i64>(*n.large));  // u64 takes the bits back
  }
  return convert(Tensor::of<i64>(ElementType::i64, shape, values), type);
}

}  // namespace ovir::io
