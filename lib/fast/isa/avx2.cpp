// Compiled with -mavx2 -mfma -mf16c.
#include "fast/isa/table.hpp"
#if defined(__AVX2__)
#include <immintrin.h>

namespace ovir::fast {
namespace {
#include "fast/isa/vector_avx2.inl"

constexpr i64 kSide = 2;
inline Vec root(Vec a) { return _mm256_sqrt_ps(a); }
inline __m256d root(__m256d a) { return _mm256_sqrt_pd(a); }
inline __m256d fma(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
inline void leave() { _mm256_zeroupper(); }
using Ints = int __attribute__((vector_size(32)));
inline bool any(Ints mask) { return _mm256_movemask_ps((__m256)mask) != 0; }
inline Vec from_f16(const std::uint16_t* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline Vec from_bf16(const std::uint16_t* p) {
  const auto bits = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  return _mm256_castsi256_ps(_mm256_slli_epi32(bits, 16));
}
inline Ints widened(const unsigned char* p) {
  return (Ints)_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
inline Ints widened(const signed char* p) {
  return (Ints)_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
inline Vec floats(Ints v) { return _mm256_cvtepi32_ps((__m256i)v); }
// Floats of 8 bits become those of 16 by a shift, then those of 32.
inline void widen_both(__m256i halves, Vec (&to)[2]) {
  to[0] = _mm256_cvtph_ps(_mm256_castsi256_si128(halves));
  to[1] = _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1));
}
inline void from_f8e5m2(const unsigned char* p, Vec (&to)[2]) {
  const auto bytes = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  widen_both(_mm256_slli_epi16(bytes, 8), to);
}
inline void from_f8e4m3(const unsigned char* p, Vec (&to)[2]) {
  const auto bytes = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  const auto bits = _mm256_and_si256(_mm256_slli_epi16(bytes, 7), _mm256_set1_epi16(static_cast<short>(0xbf80)));
  const auto nan = _mm256_cmpeq_epi16(_mm256_and_si256(bytes, _mm256_set1_epi16(127)), _mm256_set1_epi16(127));
  widen_both(_mm256_or_si256(bits, nan), to);
  for (auto& v : to) v *= spread(256.0f);
}
struct Levels {
  Vec first, second;
  explicit Levels(const float* p) : first(load(p)), second(load(p + 8)) {}
  Vec of(Ints at) const {
    const auto which = _mm256_castsi256_ps(_mm256_slli_epi32((__m256i)at, 28));
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(first, (__m256i)at), _mm256_permutevar8x32_ps(second, (__m256i)at),
                            which);
  }
};
inline Vec load_some(const float* p, i64 n) { return _mm256_maskload_ps(p, first_lanes(n)); }
inline void store_some(float* p, Vec v, i64 n) { _mm256_maskstore_ps(p, first_lanes(n), v); }
inline Vec in_groups(const float* p, Ints at) { return _mm256_permutevar8x32_ps(load(p), (__m256i)at); }
#include "fast/isa/gelu_short.inl"
#include "fast/isa/scaling.inl"
#include "fast/isa/swish_short.inl"
// Uses its inverse.
#include "fast/isa/gelu.inl"

// The loops use what is above.
#include "fast/isa/all.inl"
}  // namespace
extern const IsaTable kAvx2Table = table("avx2");
}  // namespace ovir::fast
#endif
