#include "base/half.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ovir {

namespace {

constexpr std::uint32_t kInfinity = 0x7F800000, kQuietBit = 0x00400000;

constexpr std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
constexpr float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
constexpr bool is_nan(float x) { return x != x; }
constexpr std::uint32_t magnitude(float x) { return bits_of(x) & 0x7FFFFFFF; }

/// The code of a non-negative number (its float bits) in a format with `E` exponent and `M` mantissa bits, rounded to
/// nearest, ties to even. The caller judges overflow: the exponent just runs on.
template <unsigned E, unsigned M>
constexpr std::uint32_t round_to(std::uint32_t bits) {
  constexpr std::uint32_t bias = (1u << (E - 1)) - 1, dropped = 23 - M;
  constexpr std::uint32_t min_normal = (127 - bias + 1) << 23;
  // Adding a number whose last place is the format's least step leaves the multiple of that step in the low bits.
  constexpr std::uint32_t step_aligner = (127 - bias + 1 + dropped) << 23;
  if (bits < min_normal) return bits_of(float_of(bits) + float_of(step_aligner)) - step_aligner;
  const std::uint32_t odd = (bits >> dropped) & 1;
  return (bits - ((127 - bias) << 23) + (1u << (dropped - 1)) - 1 + odd) >> dropped;
}

/// The number that a code without its sign stands for, infinities and NaN aside.
template <unsigned E, unsigned M>
constexpr float number_of(std::uint32_t code) {
  constexpr std::uint32_t bias = (1u << (E - 1)) - 1;
  if (code >> M == 0) return static_cast<float>(code) * float_of((127 - bias + 1 - M) << 23);
  return float_of((code << (23 - M)) + ((127 - bias) << 23));
}

constexpr std::uint16_t f16_bits(float x) {
  const std::uint32_t sign = bits_of(x) >> 31 << 15, abs = magnitude(x);
  if (abs > kInfinity) return static_cast<std::uint16_t>(sign | 0x7E00 | ((abs >> 13) & 0x3FF));
  return static_cast<std::uint16_t>(sign | std::min(round_to<5, 10>(abs), 0x7C00u));
}

constexpr float f16_value(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, abs = bits & 0x7FFFu;
  if (abs > 0x7C00) return float_of(sign | kInfinity | kQuietBit | (abs & 0x3FF) << 13);
  if (abs == 0x7C00) return float_of(sign | kInfinity);
  return float_of(sign | bits_of(number_of<5, 10>(abs)));
}

constexpr std::uint16_t bf16_bits(float x) {
  const std::uint32_t bits = bits_of(x);
  if (is_nan(x)) return static_cast<std::uint16_t>((bits | kQuietBit) >> 16);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

constexpr auto kE4M3 = [] {
  std::array<float, 128> values{};
  for (std::uint32_t code = 0; code < 127; ++code) values[code] = number_of<4, 3>(code);
  values[127] = std::numeric_limits<float>::quiet_NaN();
  return values;
}();

constexpr std::array kE2M1{0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};

/// The sixteen levels: quantiles of the normal distribution, scaled to [-1, 1] (Dettmers et al., QLoRA).
constexpr std::array kLevels{-1.0f,
                             -0.6961928009986877f,
                             -0.5250730514526367f,
                             -0.39491748809814453f,
                             -0.28444138169288635f,
                             -0.18477343022823334f,
                             -0.09105003625154495f,
                             0.0f,
                             0.07958029955625534f,
                             0.16093020141124725f,
                             0.24611230194568634f,
                             0.33791524171829224f,
                             0.44070982933044434f,
                             0.5626170039176941f,
                             0.7229568362236023f,
                             1.0f};

}  // namespace

f16::f16(float x) : bits(f16_bits(x)) {}
f16::operator float() const { return f16_value(bits); }

bf16::bf16(float x) : bits(bf16_bits(x)) {}
bf16::operator float() const { return float_of(std::uint32_t{bits} << 16); }

// OpenVINO rounds to f16 first and then to eight bits, so a value just beside a tie counts as the tie.
f8e4m3::f8e4m3(float x) {
  const float half = f16_value(f16_bits(x));
  const std::uint32_t sign = bits_of(x) >> 31 << 7;
  const std::uint32_t code = magnitude(half) >= kInfinity ? 0x7F : std::min(round_to<4, 3>(magnitude(half)), 0x7Fu);
  bits = static_cast<std::uint8_t>(sign | code);
}
f8e4m3::operator float() const { return float_of(bits_of(kE4M3[bits & 0x7F]) | (bits & 0x80u) << 24); }

f8e5m2::f8e5m2(float x) {
  // The upper byte of an f16; carrying into the exponent reaches infinity by itself.
  const std::uint32_t half = f16_bits(x), odd = (half >> 8) & 1;
  bits = static_cast<std::uint8_t>(is_nan(x) ? half >> 8 | 0x02 : (half + 0x7F + odd) >> 8);
}
f8e5m2::operator float() const { return f16_value(static_cast<std::uint16_t>(bits << 8)); }

// A power of two, 2^(code - 127); no sign, no zero, no infinity.
f8e8m0::f8e8m0(float x) {
  const std::uint32_t all = bits_of(x), exponent = all >> 23 & 0xFF, mantissa = all & 0x7FFFFF;
  // Below 2^-126 the codes' midpoint lies elsewhere: subnormal floats have no hidden bit.
  const std::uint32_t tie = exponent == 0 ? 0x600000 : 0x400000;
  const bool up = mantissa > tie || (mantissa == tie && (exponent & 1) != 0);
  if (is_nan(x)) bits = 0xFF;
  else if (all >> 31 != 0) bits = 0;
  else bits = static_cast<std::uint8_t>(exponent >= 0xFE ? 0xFE : exponent + up);
}
f8e8m0::operator float() const {
  if (bits == 0xFF) return std::numeric_limits<float>::quiet_NaN();
  return bits == 0 ? float_of(kQuietBit) : float_of(std::uint32_t{bits} << 23);
}

f4e2m1::f4e2m1(float x) {
  // No code is NaN: the greatest number stands for it, whatever its sign, which differs from processor to processor.
  const std::uint32_t code = std::min(round_to<2, 1>(magnitude(x)), 7u);
  bits = static_cast<std::uint8_t>(is_nan(x) ? 7 : bits_of(x) >> 31 << 3 | code);
}
f4e2m1::operator float() const { return float_of(bits_of(kE2M1[bits & 7]) | (bits & 8u) << 28); }

nf4::nf4(float x) : bits(0) {
  // A number halfway between two levels takes the lower one.
  while (bits < 15 && x > (kLevels[bits] + kLevels[bits + 1u]) / 2) ++bits;
}
nf4::operator float() const { return kLevels[bits & 15]; }

#if defined(__x86_64__)
namespace {

__attribute__((target("avx,f16c"))) i64 f16c_to_f32(const f16* from, float* to, i64 n) {
  i64 i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  return i;
}

__attribute__((target("avx,f16c"))) i64 f16c_from_f32(const float* from, f16* to, i64 n) {
  i64 i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  return i;
}

bool has_f16c() {
  static const bool has = __builtin_cpu_supports("avx2");  // has it; clang 14 cannot be asked for f16c itself
  return has;
}

}  // namespace
#endif

void to_f32(const f16* from, float* to, i64 n) {
  i64 i = 0;
#if defined(__x86_64__)
  if (has_f16c()) i = f16c_to_f32(from, to, n);
#endif
  for (; i < n; ++i) to[i] = f16_value(from[i].bits);
}

void from_f32(const float* from, f16* to, i64 n) {
  i64 i = 0;
#if defined(__x86_64__)
  if (has_f16c()) i = f16c_from_f32(from, to, n);
#endif
  for (; i < n; ++i) to[i].bits = f16_bits(from[i]);
}

void to_f32(const bf16* from, float* to, i64 n) {
  for (i64 i = 0; i < n; ++i) to[i] = float_of(std::uint32_t{from[i].bits} << 16);
}

void from_f32(const float* from, bf16* to, i64 n) {
  for (i64 i = 0; i < n; ++i) to[i].bits = bf16_bits(from[i]);
}

}  // namespace ovir
