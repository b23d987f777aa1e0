#include "values.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/core.h>

#include "base/half.hpp"

namespace ovir::spec {
namespace {

using Real = long double;

std::optional<Real> number(const Word& w) {
  if (w.quoted) return std::nullopt;
  if (w.text == "true") return Real{1};
  if (w.text == "false") return Real{0};
  char* end = nullptr;
  const auto v = std::strtold(w.text.c_str(), &end);
  if (end == w.text.c_str() || *end != '\0') return std::nullopt;
  return v;
}

Real required(const Word& w) {
  if (const auto v = number(w)) return *v;
  throw std::runtime_error(fmt::format("\"{}\" is not a number", w.text));
}

Word as_word(Real v, int line) { return {fmt::format("{:.21g}", v), false, line}; }

/// Calls f with a value of the C++ type that stores `type`.
template <class F>
void with_stored(ElementType type, F&& f) {
  switch (type) {
    case ElementType::f64: return f(double{});
    case ElementType::f32: return f(float{});
    case ElementType::f16: return f(f16{});
    case ElementType::bf16: return f(bf16{});
    case ElementType::f8e4m3: return f(f8e4m3{});
    case ElementType::f8e5m2: return f(f8e5m2{});
    case ElementType::f8e8m0: return f(f8e8m0{});
    case ElementType::f4e2m1: return f(f4e2m1{});
    case ElementType::nf4: return f(nf4{});
    case ElementType::i64: return f(i64{});
    case ElementType::i32: return f(std::int32_t{});
    case ElementType::i16: return f(std::int16_t{});
    case ElementType::i8:
    case ElementType::i4: return f(std::int8_t{});
    case ElementType::u64: return f(std::uint64_t{});
    case ElementType::u32: return f(std::uint32_t{});
    case ElementType::u16: return f(std::uint16_t{});
    default: return f(std::uint8_t{});
  }
}

template <class T>
constexpr bool kNarrow = !std::is_arithmetic_v<T>;

/// The least and greatest number of an integer type.
std::pair<Real, Real> range(ElementType type) {
  if (type == ElementType::boolean) return {0, 1};
  const auto bits = bit_width(type);
  if (contains(kSigned, type)) return {-std::ldexp(Real{1}, bits - 1), std::ldexp(Real{1}, bits - 1) - 1};
  return {0, std::ldexp(Real{1}, bits) - 1};
}

Real rounded(ElementType type, Real v) {
  Real result = v;
  with_stored(type, [&]<class T>(T) {
    if constexpr (kNarrow<T>) result = static_cast<float>(T(static_cast<float>(v)));
    else if constexpr (std::is_floating_point_v<T>) result = static_cast<T>(v);
  });
  return result;
}

/// One unit in the last place of 1, where the type rounds more coarsely than the default tolerance.
double step(ElementType type) {
  switch (type) {
    case ElementType::f16: return 0x1p-10;
    case ElementType::bf16: return 0x1p-7;
    case ElementType::f8e4m3: return 0x1p-3;
    case ElementType::f8e5m2: return 0x1p-2;
    case ElementType::f4e2m1: return 0.5;
    case ElementType::nf4: return 0.2;
    case ElementType::f8e8m0: return 1;
    default: return 0;
  }
}

std::string shown(const Tensor& t, i64 i) {
  if (t.type() == ElementType::string) return fmt::format("\"{}\"", t.data<std::string_view>()[i]);
  return fmt::format("{:.9g}", element(t, i));
}

std::string all_shown(const Tensor& t) {
  std::string text;
  const auto n = std::min<i64>(t.size(), 48);
  for (i64 i = 0; i < n; ++i) text += (i ? " " : "") + shown(t, i);
  return text + (n < t.size() ? " …" : "");
}

}  // namespace

long double element(const Tensor& tensor, i64 i) {
  Real v = 0;
  with_stored(tensor.type(), [&]<class T>(T) {
    if constexpr (kNarrow<T>) v = static_cast<float>(tensor.data<T>()[i]);
    else v = static_cast<Real>(tensor.data<T>()[i]);
  });
  return v;
}

std::vector<Word> expand(const PortText& port, const Shape& shape) {
  const auto count = static_cast<std::size_t>(shape.count());
  const auto& v = port.values;
  const auto argument = [&](std::size_t i) {
    if (i < v.size()) return required(v[i]);
    throw std::runtime_error(fmt::format("{} needs more numbers", v[0].text));
  };
  std::vector<Word> words;
  if (!v.empty() && v[0].is("iota")) {
    const auto first = argument(1), by = v.size() > 2 ? argument(2) : 1;
    for (std::size_t i = 0; i < count; ++i) words.push_back(as_word(first + static_cast<Real>(i) * by, port.line));
  } else if (!v.empty() && v[0].is("linspace")) {
    const auto first = argument(1), last = argument(2);
    for (std::size_t i = 0; i < count; ++i)
      words.push_back(as_word(
          first + (last - first) * static_cast<Real>(i) / static_cast<Real>(std::max<std::size_t>(count, 2) - 1),
          port.line));
  } else if (!v.empty() && (v[0].is("fill") || v[0].is("cycle"))) {
    if (v.size() < 2 || (v[0].is("fill") && v.size() > 2)) throw std::runtime_error(v[0].text + " needs a value");
    for (std::size_t i = 0; i < count; ++i) words.push_back(v[1 + i % (v.size() - 1)]);
  } else {
    words = v;
  }
  if (words.size() != count)
    throw std::runtime_error(
        fmt::format("{} values for {} of shape {}, which holds {}", words.size(), port.name, to_string(shape), count));
  return words;
}

bool holds(ElementType type, const Word& value, bool exactly) {
  if (type == ElementType::string) return true;
  if (type == ElementType::dynamic) return false;
  const auto v = number(value);
  if (!v) return false;
  if (!is_float(type)) {
    const auto [min, max] = range(type);
    return min <= *v && *v <= max && std::trunc(*v) == *v;
  }
  const auto r = rounded(type, *v);
  if (std::isnan(*v) || std::isinf(*v)) return std::isnan(*v) ? std::isnan(r) : r == *v;
  if (exactly && type != ElementType::f32 && type != ElementType::f64)
    return r == *v && std::signbit(r) == std::signbit(*v);
  return !std::isinf(r) && std::abs(r - *v) <= std::abs(*v);  // neither overflow nor another sign
}

Tensor make_tensor(ElementType type, const Shape& shape, std::span<const Word> values) {
  if (type == ElementType::string) {
    std::vector<std::string> texts;
    for (const auto& w : values) texts.push_back(w.text);
    return Tensor::strings(shape, texts);
  }
  Tensor t(type, shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto v = required(values[i]);
    if (!holds(type, values[i], false))
      throw std::runtime_error(fmt::format("{} is outside of {}", values[i].text, name(type)));
    with_stored(type, [&]<class T>(T) {
      if constexpr (kNarrow<T>) t.mutable_data<T>()[i] = T(static_cast<float>(v));
      else t.mutable_data<T>()[i] = static_cast<T>(v);
    });
  }
  return t;
}

std::string difference(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
  if (actual.type() != expected.type())
    return fmt::format("expected type {}, got {}", name(expected.type()), name(actual.type()));
  if (actual.shape() != expected.shape())
    return fmt::format("expected shape {}, got {}", to_string(expected.shape()), to_string(actual.shape()));
  const auto relative = std::max(tolerance.relative.value_or(2e-6), step(actual.type()));
  const auto absolute = std::max(tolerance.absolute.value_or(2e-6), step(actual.type()) / 2);
  const bool exact = !is_float(actual.type()) && !tolerance.absolute && !tolerance.relative;
  i64 wrong = 0, first = 0;
  for (i64 i = actual.size(); i-- > 0;) {
    bool same = false;
    if (actual.type() == ElementType::string) {
      same = actual.data<std::string_view>()[i] == expected.data<std::string_view>()[i];
    } else {
      const auto a = element(actual, i), e = element(expected, i);
      if (std::isnan(e) || std::isnan(a)) same = std::isnan(a) && std::isnan(e);
      else if (exact || std::isinf(e) || std::isinf(a)) same = a == e;
      else if (!is_float(actual.type()))
        same = std::abs(a - e) <=
               std::max<Real>(tolerance.absolute.value_or(0), tolerance.relative.value_or(0) * std::abs(e));
      else same = std::abs(a - e) <= absolute + relative * std::abs(e);
    }
    if (!same) ++wrong, first = i;
  }
  if (wrong == 0) return "";
  return fmt::format(
      "{} of {} elements differ, the first at {}: expected {}, got {}\n      expected {}\n      got      {}", wrong,
      actual.size(), first, shown(expected, first), shown(actual, first), all_shown(expected), all_shown(actual));
}

}  // namespace ovir::spec
