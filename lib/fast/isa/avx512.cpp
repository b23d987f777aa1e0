// Compiled with -mavx512f.
#include "fast/isa/table.hpp"
#if defined(__AVX512F__)
#include <immintrin.h>

namespace ovir::fast {
namespace {
#include "fast/isa/vector_avx512.inl"

constexpr i64 kSide = 4;
inline Vec root(Vec a) { return _mm512_sqrt_ps(a); }
inline __m512d root(__m512d a) { return _mm512_sqrt_pd(a); }
inline __m512d fma(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
inline void leave() { _mm256_zeroupper(); }
using Ints = int __attribute__((vector_size(64)));
inline bool any(Ints mask) { return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0; }
inline Vec from_f16(const std::uint16_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
inline Vec from_bf16(const std::uint16_t* p) {
  const auto bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16));
}
inline Ints widened(const unsigned char* p) {
  return (Ints)_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline Ints widened(const signed char* p) {
  return (Ints)_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline Vec floats(Ints v) { return _mm512_cvtepi32_ps((__m512i)v); }
/// Two vectors of floats of 16 bits that are made of as many bytes.
template <class Halves>
inline void read_halves(const unsigned char* p, Halves halves_of, Vec (&to)[2]) {
  to[0] = _mm512_cvtph_ps(halves_of(p));
  to[1] = _mm512_cvtph_ps(halves_of(p + kWidth));
}
struct Levels {
  Vec all;
  explicit Levels(const float* p) : all(load(p)) {}
  Vec of(Ints at) const { return _mm512_permutexvar_ps((__m512i)at, all); }
};
inline Vec in_groups(const float* p, Ints at) { return _mm512_permutexvar_ps((__m512i)at, load(p)); }
inline Vec round_even(Vec x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline Vec floor(Vec x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
inline Vec near(Vec x) { return round_even(x); }
inline Vec scaled(Vec x, Vec n) { return _mm512_scalef_ps(x, n); }
inline Vec inverse(Vec x) {  // a division takes as long as the exponential before it
  const Vec y = _mm512_rcp14_ps(x);
  return fma(y, fma(-x, y, spread(1.0f)), y);
}
// Uses read_halves.
#include "fast/isa/f8.inl"
#include "fast/isa/gelu_avx512.inl"
#include "fast/isa/gelu_short_avx512.inl"
#include "fast/isa/square_avx512.inl"
#include "fast/isa/swish_short_avx512.inl"
// The loops use what is above.
#include "fast/isa/all.inl"

/// Rows of other sizes begin in the middle of lines, which halves of vectors cross less often.
static void short_rows(const ShortRows& s) {
  const bool halves = s.n % kWidth != 0 && s.n <= kAvx2Table.short_row;
  halves ? kAvx2Table.normalize_short_rows(s) : normalize_short_rows(s);
}

constexpr IsaTable wide_table() {
  auto wide = table("avx512");
  wide.normalize_short_rows = short_rows;
  return wide;
}
}  // namespace
extern const IsaTable kAvx512Table = wide_table();
}  // namespace ovir::fast
#endif
