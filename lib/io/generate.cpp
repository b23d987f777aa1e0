#include "io/generate.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "diag/diagnostic.hpp"

namespace ovir::io {

namespace {

/// SplitMix64 (Steele, Lea, Flood 2014): element i's number is a function of seed and i alone.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// In [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// A whole number in [0, n), n > 0.
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  /// Marsaglia's polar method.
  double normal() {
    for (;;) {
      const double u = 2 * uniform() - 1, v = 2 * uniform() - 1, s = u * u + v * v;
      if (s > 0 && s < 1) return u * std::sqrt(-2 * logarithm(s) / s);
    }
  }

 private:
  /// libm's log differs from system to system in the last place; this uses exact and correctly rounded steps only.
  static double logarithm(double x) {
    int exponent = 0;
    double m = std::frexp(x, &exponent);
    if (m < 0.70710678118654752) {
      m *= 2;
      --exponent;
    }
    const double t = (m - 1) / (m + 1), square = t * t;
    double series = 0;
    for (int k = 21; k >= 1; k -= 2) series = series * square + 1.0 / k;
    return 2 * t * series + exponent * 0.69314718055994531;
  }
  std::uint64_t state_;
};

Number number_in(std::string_view text, std::string_view word) {
  const auto n = parse_number_word(trim(text));
  if (trim(text).empty()) fail(Code::E0705, "\"{}\": expected a number behind the colon", printable(word));
  if (!n) fail(Code::E0705, "\"{}\": \"{}\" is not a number", printable(word), printable(text));
  return *n;
}

void want_finite(const Generator& g, std::string_view word) {
  const bool fine = std::isfinite(g.a.real) && std::isfinite(g.b.real) && std::isfinite(g.b.real - g.a.real);
  if (!fine) fail(Code::E0705, "\"{}\": the numbers must be finite", printable(word));
}

bool is_integer(ElementType t) { return contains(kInteger | kBoolean, t); }

/// `fill()` for every element in turn, computed as C and converted to the tensor's type.
template <class C, class F>
Tensor filled(ElementType carrier, ElementType type, const Shape& shape, F fill) {
  Tensor out(carrier, shape);
  for (auto& x : out.mutable_values<C>()) x = fill();
  return convert(out, type);
}

Tensor whole_numbers(const Generator& g, ElementType type, const Shape& shape, Random random) {
  int bits = bit_width(type);  // of a value that is not negative
  if (type == ElementType::boolean) bits = 1;
  if (type == ElementType::i4) bits = 3;
  const i64 begin = g.ranged ? g.a.whole.value_or(0) : 0;
  i64 end = bits < 4 ? i64{1} << bits : 10;
  if (g.ranged) end = g.b.whole.value_or(0);
  if (g.ranged && !(g.a.whole && g.b.whole))
    fail(Code::E0705, "a range of {} must have integers as its ends", name(type));
  if (begin >= end) fail(Code::E0705, "the range from {} to below {} holds no integer", begin, end);
  tensor_of(type, {2},
            {Number{static_cast<double>(begin), begin, {}},
             Number{static_cast<double>(end - 1), end - 1, {}}});  // both ends must be values
  const auto length = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
  return filled<i64>(ElementType::i64, type, shape,
                     [&] { return static_cast<i64>(static_cast<std::uint64_t>(begin) + random.below(length)); });
}

}  // namespace

std::optional<Generator> parse_generator(std::string_view word) {
  using Kind = Generator::Kind;
  if (word == "zeros") return Generator{Kind::constant, {0, 0, {}}, {}};
  if (word == "ones") return Generator{Kind::constant, {1, 1, {}}, {}};
  if (word == "arange") return Generator{Kind::arange, {}, {}};
  if (word == "rand") return Generator{Kind::uniform, {0, 0, {}}, {1, 1, {}}, false};
  if (word == "randn") return Generator{Kind::normal, {0, 0, {}}, {1, 1, {}}};
  const auto colon = word.find(':');
  if (colon == word.npos) return std::nullopt;
  const auto kind = word.substr(0, colon), rest = word.substr(colon + 1);
  if (kind == "const") return Generator{Kind::constant, number_in(rest, word), {}};
  if (kind != "rand" && kind != "randn") return std::nullopt;
  const auto parts = split(rest, ',');
  if (parts.size() != 2)
    fail(Code::E0705, "\"{}\": expected two numbers, as in {}", printable(word),
         kind == "rand" ? "rand:0,1" : "randn:0,1");
  const Generator g{kind == "rand" ? Kind::uniform : Kind::normal, number_in(parts[0], word),
                    number_in(parts[1], word)};
  want_finite(g, word);
  if (g.kind == Kind::uniform && g.a.real > g.b.real) fail(Code::E0705, "\"{}\": the range is empty", printable(word));
  if (g.kind == Kind::normal && g.b.real < 0)
    fail(Code::E0705, "\"{}\": the standard deviation must not be negative", printable(word));
  return g;
}

Tensor generate(const Generator& g, ElementType type, const Shape& shape, std::uint64_t seed) {
  using Kind = Generator::Kind;
  const bool zero = g.kind == Kind::constant && g.a.whole == 0;
  if (type == ElementType::string && zero) return Tensor(type, shape);
  if (type == ElementType::string || type == ElementType::dynamic)
    fail(Code::E0704, "cannot generate such data of type {}", name(type));
  Random random(seed);
  switch (g.kind) {
    case Kind::constant: {
      const Tensor one = tensor_of(type, {}, {g.a});
      Tensor out(type, shape);
      const auto width = byte_width(type);
      for (i64 i = 0; i < out.size(); ++i) std::copy_n(one.bytes(), width, out.mutable_bytes() + i * width);
      return out;
    }
    case Kind::arange: {
      i64 next = 0;
      return filled<i64>(ElementType::i64, type, shape, [&] { return next++; });
    }
    case Kind::uniform:
      if (is_integer(type)) return whole_numbers(g, type, shape, random);
      return filled<double>(ElementType::f64, type, shape,
                            [&] { return g.a.real + random.uniform() * (g.b.real - g.a.real); });
    case Kind::normal:
      return filled<double>(ElementType::f64, type, shape, [&] { return g.a.real + random.normal() * g.b.real; });
  }
  return {};
}

}  // namespace ovir::io
