// Compiled with -mavx2 -mfma.
#include "fast/isa/table.hpp"
#if defined(__AVX2__)
#include <immintrin.h>

namespace ovir::fast {
namespace {
using Vec = __m256;
constexpr i64 kWidth = 8, kSide = 2;
constexpr int kPixels = 6;
inline Vec load(const float* p) { return _mm256_loadu_ps(p); }
inline void store(float* p, Vec v) { _mm256_storeu_ps(p, v); }
inline Vec spread(float s) { return _mm256_set1_ps(s); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
inline Vec min(Vec a, Vec b) { return _mm256_min_ps(a, b); }
inline Vec max(Vec a, Vec b) { return _mm256_max_ps(a, b); }
inline Vec root(Vec a) { return _mm256_sqrt_ps(a); }
using Ints = int __attribute__((vector_size(32)));
inline Ints widened(const unsigned char* p) {
  return (Ints)_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
inline Ints widened(const signed char* p) {
  return (Ints)_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
inline Vec floats(Ints v) { return _mm256_cvtepi32_ps((__m256i)v); }
struct Sixteen {
  Vec low, high;
};
inline Sixteen sixteen(const float* p) { return {load(p), load(p + 8)}; }
inline Vec pick(const Sixteen& table, Ints at) {
  const auto index = (__m256i)at;
  return _mm256_blendv_ps(_mm256_permutevar8x32_ps(table.low, index), _mm256_permutevar8x32_ps(table.high, index),
                          (Vec)(at << 28));
}
#include "fast/isa/scaling.inl"

// The loops use what is above.
#include "fast/isa/all.inl"
}  // namespace
extern const IsaTable kAvx2Table = table("avx2");
}  // namespace ovir::fast
#endif
