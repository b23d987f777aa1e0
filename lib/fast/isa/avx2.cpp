// Compiled with -mavx2 -mfma -mf16c.
#include "fast/isa/table.hpp"
#if defined(__AVX2__)
#include <immintrin.h>

namespace ovir::fast {
namespace {
#include "fast/isa/vector_avx2.inl"

constexpr i64 kSide = 2;
inline Vec root(Vec a) { return _mm256_sqrt_ps(a); }
inline Vec round_even(Vec x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
inline Vec floor(Vec x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
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
/// Sixteen floats of 16 bits that are made of as many bytes.
template <class Halves>
inline void read_halves(const unsigned char* p, Halves halves_of, Vec (&to)[2]) {
  const __m256i halves = halves_of(p);
  to[0] = _mm256_cvtph_ps(_mm256_castsi256_si128(halves));
  to[1] = _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1));
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
inline Vec in_groups(const float* p, Ints at) { return _mm256_permutevar8x32_ps(load(p), (__m256i)at); }
// Uses read_halves.
#include "fast/isa/f8.inl"
#include "fast/isa/gelu_short.inl"
#include "fast/isa/scaling.inl"
#include "fast/isa/square.inl"
#include "fast/isa/swish_short.inl"
// Uses its inverse.
#include "fast/isa/gelu.inl"

// The loops use what is above.
#include "fast/isa/all.inl"
}  // namespace
extern const IsaTable kAvx2Table = table("avx2");
}  // namespace ovir::fast
#endif
