// Compiled with AVX-512's BW, VL, BF16 and VNNI.
#include "fast/isa/narrow.hpp"
#if defined(__AVX512BF16__) && defined(__AVX512VNNI__)
#include <immintrin.h>

namespace ovir::fast {
namespace {
using Vec = __m512;
using Words = Word __attribute__((vector_size(64)));
using Ints = int __attribute__((vector_size(64)));
constexpr i64 kWidth = 16;
constexpr int kPixels = 14;
inline Vec load(const float* p) { return _mm512_loadu_ps(p); }
inline void store(float* p, Vec v) { _mm512_storeu_ps(p, v); }
inline Vec spread(float s) { return _mm512_set1_ps(s); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
inline Vec min(Vec a, Vec b) { return _mm512_min_ps(a, b); }
inline Vec max(Vec a, Vec b) { return _mm512_max_ps(a, b); }
inline Words load_words(const Word* p) { return (Words)_mm512_loadu_si512(p); }
inline void store_words(Word* p, Words w) { _mm512_storeu_si512(p, (__m512i)w); }
inline Words spread_word(const Word* p) { return (Words)_mm512_set1_epi32(static_cast<int>(*p)); }
// Inline assembly: with the intrinsics g++ 12 copies the sums from register to register, and to memory and back.
[[gnu::always_inline]] inline void dot_bf16(Words a, Words b, Vec& sum) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}
[[gnu::always_inline]] inline void dot_u8(Words a, Words b, Ints& sum) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}
inline void store_bf16(std::uint16_t* p, Vec v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), (__m256i)_mm512_cvtneps_pbh(v));
}
inline Vec load_bf16(const std::uint16_t* p) {
  return _mm512_castsi512_ps(
      _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))), 16));
}
[[gnu::always_inline]] inline Words merge(Vec even, Vec odd) {
  const auto low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(even)),
             high = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(odd));
  return (Words)_mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}
#include "fast/isa/narrow.inl"
}  // namespace
extern const NarrowTable kNarrowAvx512Table = narrow_table("avx512");
}  // namespace ovir::fast
#endif
