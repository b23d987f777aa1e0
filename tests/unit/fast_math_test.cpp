// The elementary functions of lib/fast/isa against those of the C library in double precision.
#include <bit>
#include <functional>
#include <limits>

#include "kernels.hpp"

namespace ovir::fast {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

/// Errors in units of the last place of the exact result, over floats of every magnitude in [low, high].
double ulps(const Unary& f, const std::function<double(double)>& exact, float low, float high) {
  Floats x;
  for (std::uint32_t b = 0; b < 0x7f800000u; b += 9973)
    for (const auto v : {std::bit_cast<float>(b), -std::bit_cast<float>(b)})
      if (v >= low && v <= high) x.push_back(v);
  Floats y(x.size());
  isa().unary(f, x.data(), y.data(), static_cast<i64>(x.size()));
  double max = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto e = exact(static_cast<double>(x[i]));
    const auto near = static_cast<float>(e);
    if (std::isinf(near) && y[i] == near) continue;
    const auto up = std::nextafter(std::abs(near), kInf);
    const auto ulp = std::max(static_cast<double>(up) - std::abs(static_cast<double>(near)), 1.4e-45);
    const auto error = std::abs(static_cast<double>(y[i]) - e) / ulp;
    if (!(error <= max)) max = error;
  }
  return max;
}

TEST_CASE("elementary functions: errors in units of the last place") {
  for_each_isa([] {
    CHECK(ulps(
              {Function::exp}, [](double x) { return std::exp(x); }, -104, 89) < 2);
    CHECK(ulps(
              {Function::log}, [](double x) { return std::log(x); }, 1e-38f, 3e38f) < 1.5);
    CHECK(ulps(
              {Function::tanh}, [](double x) { return std::tanh(x); }, -kInf, kInf) < 2.5);
    CHECK(ulps(
              {Function::erf}, [](double x) { return std::erf(x); }, -kInf, kInf) < 2.5);
    CHECK(ulps(
              {Function::sigmoid}, [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80) < 3);
    CHECK(ulps(
              {Function::softplus}, [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }, -80,
              80) < 3);
    CHECK(ulps(
              {Function::elu, 1}, [](double x) { return x < 0 ? std::expm1(x) : x; }, -80, 80) < 3);
    CHECK(ulps(
              {Function::mish}, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }, -80, 80) < 4);
    CHECK(ulps(
              {Function::sqrt}, [](double x) { return std::sqrt(x); }, 0, kInf) <= 0.5);
    CHECK(ulps(
              {Function::floor}, [](double x) { return std::floor(x); }, -kInf, kInf) == 0);
    CHECK(ulps(
              {Function::ceiling}, [](double x) { return std::ceil(x); }, -kInf, kInf) == 0);
    CHECK(ulps(
              {Function::round_even}, [](double x) { return std::nearbyint(x); }, -kInf, kInf) == 0);
  });
}

TEST_CASE("elementary functions: those of angles and hyperbolas are rounded once, angles beyond 2^20 nearly so") {
  struct Case {
    Function f;
    double (*exact)(double);
    float low = -kInf, high = kInf;
  };
  const Case cases[] = {{Function::sin, std::sin, -3e38f, 3e38f},
                        {Function::cos, std::cos, -3e38f, 3e38f},
                        {Function::tan, std::tan, -3e38f, 3e38f},
                        {Function::sinh, std::sinh},
                        {Function::cosh, std::cosh},
                        {Function::asin, std::asin, -1, 1},
                        {Function::acos, std::acos, -1, 1},
                        {Function::atan, std::atan},
                        {Function::asinh, std::asinh},
                        {Function::acosh, std::acosh, 1, kInf},
                        {Function::atanh, std::atanh, -1, 1},
                        {Function::round_away, std::round}};
  for_each_isa([&] {
    for (const auto& c : cases) {
      INFO(static_cast<int>(c.f));
      CHECK(ulps({c.f}, c.exact, c.low, c.high) < (c.low == -3e38f ? 1.5 : 0.51));
    }
  });
}

TEST_CASE("elementary functions: remainders are exact, powers within a unit in the last place") {
  Floats a, b;
  const float special[] = {0,      -0.0f,       1,          -1,    2,        -2,           0.5f,    -0.5f,
                           3,      -3,          kInf,       -kInf, -8388609, 1e-45f,       -1e-45f, 1e38f,
                           -1e38f, 16777216.0f, 8388607.5f, 0.1f,  7,        std::nanf("")};
  for (const auto x : special)
    for (const auto y : special) {
      a.push_back(x);
      b.push_back(y);
    }
  std::mt19937 engine(5);
  for (int i = 0; i < 50'000; ++i) {
    a.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(engine())));
    b.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(engine())));
    a.push_back(static_cast<float>(static_cast<int>(engine() % 2000) - 1000));
    b.push_back(static_cast<float>(static_cast<int>(engine() % 40) - 20));
  }
  const auto n = static_cast<i64>(a.size());
  Floats y(a.size());
  const auto same = [](float x, float e) {
    return std::isnan(e) ? std::isnan(x) : std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(e);
  };
  for_each_isa([&] {
    isa().binary(Binary::mod, a.data(), 1, b.data(), 1, y.data(), n);
    for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(same(y[i], std::fmod(a[i], b[i])));
    isa().binary(Binary::floor_mod, a.data(), 1, b.data(), 1, y.data(), n);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto r = std::fmod(a[i], b[i]);
      REQUIRE(same(y[i], r != 0 && (r < 0) != (b[i] < 0) ? r + b[i] : r));
    }
    isa().binary(Binary::power, a.data(), 1, b.data(), 1, y.data(), n);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto e = std::pow(a[i], b[i]);
      INFO(a[i] << " to the power of " << b[i]);
      REQUIRE((same(y[i], e) || std::abs(std::bit_cast<int>(y[i]) - std::bit_cast<int>(e)) <= 1));
    }
  });
}

TEST_CASE("elementary functions: GELU and Swish differ from the exact ones by 2e-7 of their argument") {
  for_each_isa([] {
    const auto x = random_floats(10007, 1, -8, 8);
    Floats y(x.size());
    isa().unary({Function::gelu_erf}, x.data(), y.data(), static_cast<i64>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double v = x[i];
      // Four roundings of numbers below 1, and one more where multiplication and addition round one by one.
      REQUIRE(std::abs(y[i] - v * 0.5 * (1 + std::erf(v / std::sqrt(2.0)))) <= 2.5e-7 * std::max(std::abs(v), 1e-3));
    }
    isa().unary({Function::gelu_short}, x.data(), y.data(), static_cast<i64>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double v = x[i];
      // 2e-5 of the quotient, and beyond 4.2 what it lacks to a half.
      REQUIRE(std::abs(y[i] - v * 0.5 * (1 + std::erf(v / std::sqrt(2.0)))) <= 3.4e-5 * std::max(std::abs(v), 1e-3));
    }
    const auto more = random_floats(10007, 2, -130, 130);
    for (const auto& some : {x, more})
      for (const float a : {1.0f, 1.702f, 0.25f, -2.0f}) {
        isa().unary({Function::swish, a}, some.data(), y.data(), static_cast<i64>(some.size()));
        for (std::size_t i = 0; i < some.size(); ++i) {
          const double v = some[i];
          REQUIRE(std::abs(y[i] - v / (1 + std::exp(-a * v))) <= 1.5e-7 * std::abs(v));
        }
      }
    for (const float a : {1.0f, 1.702f, 0.25f}) {
      isa().unary({Function::swish_short, a}, x.data(), y.data(), static_cast<i64>(x.size()));
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double v = x[i];
        REQUIRE(std::abs(y[i] - v / (1 + std::exp(-a * v))) <= 3.4e-5 * std::max(std::abs(v), 1e-3));
      }
    }
    isa().unary({Function::gelu_tanh}, x.data(), y.data(), static_cast<i64>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double v = x[i], inner = std::sqrt(2 / std::acos(-1.0)) * (v + 0.044715 * v * v * v);
      REQUIRE(std::abs(y[i] - v * 0.5 * (1 + std::tanh(inner))) <= 3e-7 * std::max(std::abs(v), 1e-3));
    }
  });
}

TEST_CASE("elementary functions: what is beyond the numbers") {
  for_each_isa([] {
    const auto of = [](Unary f, float x) {
      float y[3] = {x, x, x};  // fewer than a vector
      isa().unary(f, y, y, 3);
      return y[2];
    };
    const float nan = std::nanf("");
    for (int f = 0; f <= static_cast<int>(Function::linear); ++f)
      CHECK(std::isnan(of({static_cast<Function>(f), 0.5f, 1}, nan)));
    CHECK(of({Function::exp}, kInf) == kInf);
    CHECK(of({Function::exp}, -kInf) == 0);
    CHECK(of({Function::exp}, 0) == 1);
    CHECK(of({Function::log}, 0) == -kInf);
    CHECK(of({Function::log}, kInf) == kInf);
    CHECK(std::isnan(of({Function::log}, -1)));
    CHECK(of({Function::log}, 1) == 0);
    CHECK(of({Function::tanh}, -kInf) == -1);
    CHECK(of({Function::erf}, kInf) == 1);
    CHECK(of({Function::sigmoid}, -kInf) == 0);
    CHECK(of({Function::swish, 1}, kInf) == kInf);
    CHECK(std::isnan(of({Function::swish, 1}, -kInf)));  // -inf / (1 + inf)
    CHECK(of({Function::swish, 1}, -3e38f) == 0);
    CHECK(of({Function::gelu_tanh}, 3e38f) == 3e38f);
    CHECK(of({Function::gelu_tanh}, -3e38f) == 0);
    CHECK(of({Function::clamp, 0, kInf}, -kInf) == 0);
    CHECK(std::signbit(of({Function::round_even}, -0.25f)));
    CHECK(std::signbit(of({Function::round_away}, -0.25f)));
    CHECK(of({Function::round_away}, 0.49999997f) == 0);
    for (const auto f : {Function::sin, Function::cos, Function::tan, Function::acosh, Function::atanh, Function::asin})
      CHECK(std::isnan(of({f}, -kInf)));
    CHECK(std::isnan(of({Function::acos}, 2)));
    CHECK(std::isnan(of({Function::acosh}, 0.5f)));
    CHECK(of({Function::atanh}, -1) == -kInf);
    CHECK(of({Function::sinh}, -90) == -kInf);
    CHECK(of({Function::cosh}, -kInf) == kInf);
    CHECK(of({Function::asinh}, -kInf) == -kInf);
    CHECK(std::signbit(of({Function::sin}, -0.0f)));
    CHECK(std::isnan(of({Function::sqrt}, -1)));
  });
}

TEST_CASE("rows: sums, extremes, transposition") {
  for_each_isa([] {
    for (const i64 n : {1, 3, 15, 16, 17, 64, 129, 1000}) {
      auto x = random_floats(n, static_cast<unsigned>(n));
      double sum = 0, deviation = 0, magnitude = 0;
      for (const auto v : x) {
        sum += v;
        deviation += (v - 0.25) * (v - 0.25);
        magnitude += std::abs(v);
      }
      CHECK(std::abs(isa().sum(x.data(), n) - sum) <= 1e-6 * magnitude);
      CHECK(std::abs(isa().deviation(x.data(), 0.25f, n) - deviation) <= 1e-6 * deviation);
      CHECK(isa().maximum(x.data(), n) == *std::max_element(x.begin(), x.end()));
      CHECK(isa().minimum(x.data(), n) == *std::min_element(x.begin(), x.end()));
      for (const i64 i : {i64{0}, n / 2, n - 1}) {
        auto odd = x;
        odd[at(i)] = std::nanf("");
        CHECK(std::isnan(isa().maximum(odd.data(), n)));
        CHECK(std::isnan(isa().minimum(odd.data(), n)));
      }
    }
    for (const auto& [rows, columns] : {std::pair<i64, i64>{1, 1}, {16, 16}, {5, 33}, {48, 17}, {64, 64}}) {
      const auto x = random_floats(rows * columns, 7);
      Floats y(x.size());
      isa().transpose(x.data(), columns, y.data(), rows, rows, columns);
      for (i64 r = 0; r < rows; ++r)
        for (i64 c = 0; c < columns; ++c) REQUIRE(y[at(c * rows + r)] == x[at(r * columns + c)]);
    }
  });
}

}  // namespace
}  // namespace ovir::fast
