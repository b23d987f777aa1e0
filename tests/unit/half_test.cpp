#include "base/half.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "catch.hpp"

using namespace ovir;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
T of_bits(unsigned bits) {
  T x;
  x.bits = static_cast<decltype(x.bits)>(bits);
  return x;
}

/// What the code of a format with `e` exponent and `m` mantissa bits means, by the definition of IEEE 754.
double meaning(unsigned code, int e, int m) {
  const unsigned fraction = code & ((1u << m) - 1), exponent = code >> m & ((1u << e) - 1);
  const int bias = (1 << (e - 1)) - 1, unit = std::max(static_cast<int>(exponent), 1) - bias - m;
  const double value = std::ldexp(fraction + (exponent == 0 ? 0.0 : std::ldexp(1.0, m)), unit);
  return code >> (e + m) != 0 ? -value : value;
}

bool same(float a, float b) { return std::bit_cast<unsigned>(a) == std::bit_cast<unsigned>(b); }

/// Every finite code: its meaning, back to itself, and the roundings around the midpoint to the next code.
template <class T>
int faults_of(int e, int m, unsigned finite_codes) {
  int faults = 0;
  for (unsigned code = 0; code < finite_codes; ++code) {
    for (const unsigned sign : {0u, 1u << (e + m)}) {
      const T x = of_bits<T>(code | sign);
      faults += !same(static_cast<float>(x), static_cast<float>(meaning(code | sign, e, m)));
      faults += T(static_cast<float>(x)).bits != x.bits;
    }
    if (code + 1 == finite_codes) break;
    const auto middle = static_cast<float>((meaning(code, e, m) + meaning(code + 1, e, m)) / 2);
    faults += T(middle).bits != code + (code & 1);
    faults += T(std::nextafter(middle, kInf)).bits != code + 1;
    faults += T(std::nextafter(middle, 0.0f)).bits != code;
  }
  return faults;
}

}  // namespace

TEST_CASE("f16: every code, every midpoint") {
  CHECK(faults_of<f16>(5, 10, 0x7C00) == 0);
  CHECK(f16(65519.99f).bits == 0x7BFF);
  CHECK(f16(65520.0f).bits == 0x7C00);
  CHECK(f16(-kInf).bits == 0xFC00);
  CHECK(f16(std::numeric_limits<float>::denorm_min()).bits == 0);
  CHECK(f16(-0.0f).bits == 0x8000);
  for (unsigned code = 0x7C01; code < 0x8000; ++code) CHECK(std::isnan(static_cast<float>(of_bits<f16>(code))));
  CHECK(std::isnan(static_cast<float>(f16(kNan))));
}

TEST_CASE("bf16: every code, every midpoint") {
  CHECK(faults_of<bf16>(8, 7, 0x7F80) == 0);
  CHECK(bf16(std::numeric_limits<float>::max()).bits == 0x7F80);
  CHECK(std::isnan(static_cast<float>(bf16(kNan))));
  CHECK(std::isnan(static_cast<float>(bf16(std::bit_cast<float>(0x7F800001u)))));  // its payload is all cut off
}

TEST_CASE("bulk conversions equal the single ones") {
  std::vector<f16> halves;
  std::vector<float> floats;
  for (unsigned code = 0; code < 0x10000; ++code) halves.push_back(of_bits<f16>(code));
  floats.resize(halves.size());
  to_f32(halves.data(), floats.data(), static_cast<i64>(halves.size()) - 3);  // an odd end
  int faults = 0;
  for (std::size_t i = 0; i + 3 < halves.size(); ++i) faults += !same(floats[i], static_cast<float>(halves[i]));
  CHECK(faults == 0);

  std::uint32_t state = 1;
  for (auto& x : floats)
    x = std::bit_cast<float>(0x33000000u +
                             ((state = state * 1664525u + 1013904223u) >> 4) % 0x14800000u);  // 2^-25 ... 2^16
  from_f32(floats.data(), halves.data(), static_cast<i64>(halves.size()));
  for (std::size_t i = 0; i < halves.size(); ++i) faults += halves[i].bits != f16(floats[i]).bits;
  CHECK(faults == 0);
}

TEST_CASE("f8e4m3 and f8e5m2: every code") {
  for (unsigned code = 0; code < 0x7F; ++code) {
    CHECK(same(static_cast<float>(of_bits<f8e4m3>(code)), static_cast<float>(meaning(code, 4, 3))));
    CHECK(f8e4m3(static_cast<float>(meaning(code | 0x80, 4, 3))).bits == (code | 0x80));
  }
  CHECK(std::isnan(static_cast<float>(of_bits<f8e4m3>(0x7F))));
  for (unsigned code = 0; code < 0x7C; ++code) {
    CHECK(same(static_cast<float>(of_bits<f8e5m2>(code)), static_cast<float>(meaning(code, 5, 2))));
    CHECK(f8e5m2(static_cast<float>(meaning(code | 0x80, 5, 2))).bits == (code | 0x80));
  }
  CHECK(static_cast<float>(of_bits<f8e5m2>(0x7C)) == kInf);
  for (unsigned code = 0x7D; code < 0x80; ++code) CHECK(std::isnan(static_cast<float>(of_bits<f8e5m2>(code))));
}

// Expected values below: OpenVINO 2026.4.1, Convert to the type and back.
TEST_CASE("f32 to f8e4m3 goes through f16 and overflows to NaN") {
  for (const auto& [x, y] : {std::pair{464.0f, 448.0f},
                             {464.01f, 448.0f},
                             {-448.0f, -448.0f},
                             {0.001f, 0.001953125f},
                             {0.0009765625f, 0.0f},
                             {0.00097656256f, 0.0f},
                             {0.0029296875f, 0.00390625f},
                             {17.0f, 16.0f},
                             {18.0f, 18.0f},
                             {19.0f, 20.0f},
                             {0.0145f, 0.013671875f},
                             {1e-8f, 0.0f},
                             {3.4f, 3.5f},
                             {-3.6f, -3.5f}})
    CHECK(same(static_cast<float>(f8e4m3(x)), y));
  for (const float x : {465.0f, 480.0f, 1e9f, kInf, -kInf, kNan}) CHECK(std::isnan(static_cast<float>(f8e4m3(x))));
}

TEST_CASE("f32 to f8e5m2 goes through f16 and overflows to infinity") {
  for (const auto& [x, y] : {std::pair{57344.0f, 57344.0f},
                             {61439.0f, kInf},
                             {61440.0f, kInf},
                             {1e9f, kInf},
                             {-kInf, -kInf},
                             {479.0f, 448.0f},
                             {480.0f, 512.0f},
                             {0.001f, 0.0009765625f},
                             {18.0f, 16.0f},
                             {1.1e-5f, 1.52587890625e-05f},
                             {7.6e-6f, 0.0f},
                             {2.2888184e-05f, 3.0517578125e-05f}})
    CHECK(same(static_cast<float>(f8e5m2(x)), y));
  CHECK(std::isnan(static_cast<float>(f8e5m2(kNan))));
}

TEST_CASE("f8e8m0 holds powers of two") {
  for (unsigned code = 0; code < 0xFF; ++code) {
    CHECK(static_cast<float>(of_bits<f8e8m0>(code)) == std::ldexp(1.0f, static_cast<int>(code) - 127));
    CHECK(f8e8m0(std::ldexp(1.0f, static_cast<int>(code) - 127)).bits == code);
  }
  const float min = std::ldexp(1.0f, -127);
  for (const auto& [x, y] : {std::pair{0.0f, min},
                             {-3.0f, min},
                             {3.4f, 4.0f},
                             {3.0f, 2.0f},
                             {6.0f, 8.0f},
                             {1.5f, 2.0f},
                             {464.0f, 512.0f},
                             {kInf, std::ldexp(1.0f, 127)},
                             {1.5f * min, min},
                             {1.6f * min, 2 * min}})
    CHECK(static_cast<float>(f8e8m0(x)) == y);
  CHECK(std::isnan(static_cast<float>(f8e8m0(kNan))));
}

TEST_CASE("f4e2m1 saturates") {
  const float values[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (unsigned code = 0; code < 8; ++code) {
    CHECK(static_cast<float>(of_bits<f4e2m1>(code)) == values[code]);
    CHECK(f4e2m1(-values[code]).bits == (code | 8));
  }
  for (const auto& [x, y] : {std::pair{0.25f, 0.0f},
                             {0.26f, 0.5f},
                             {0.75f, 1.0f},
                             {1.25f, 1.0f},
                             {1.75f, 2.0f},
                             {2.5f, 2.0f},
                             {3.5f, 4.0f},
                             {5.0f, 4.0f},
                             {5.1f, 6.0f},
                             {-3.6f, -4.0f},
                             {1e9f, 6.0f},
                             {kInf, 6.0f},
                             {kNan, 6.0f}})
    CHECK(static_cast<float>(f4e2m1(x)) == y);
}

TEST_CASE("nf4 takes the nearest level, the lower one at a tie") {
  for (unsigned code = 0; code < 16; ++code) CHECK(nf4(static_cast<float>(of_bits<nf4>(code))).bits == code);
  CHECK(nf4(-7.0f).bits == 0);
  CHECK(nf4(7.0f).bits == 15);
  CHECK(nf4(0.03979014977812767f).bits == 7);
  CHECK(nf4(std::nextafter(0.03979014977812767f, 1.0f)).bits == 8);
  CHECK(nf4(0.0f).bits == 7);
}
