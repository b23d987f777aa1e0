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
inline void store_bf16(std::uint16_t* p, Vec first, Vec second) {
  _mm512_storeu_si512(p, (__m512i)_mm512_cvtne2ps_pbh(second, first));
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
/// To the nearest, halves to even.
[[gnu::always_inline]] inline Ints to_levels(Vec v) { return (Ints)_mm512_cvtps_epi32(v); }
inline void store_u8(std::uint8_t* p, Vec v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v)));
}
inline Vec load_u8(const std::uint8_t* p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}

/// Four vectors of bytes become the words of 64 channels: lane l of vector v holds channel l/4·16 + v·4 + l%4.
[[gnu::always_inline]] inline void interleave(__m512i a, __m512i b, __m512i c, __m512i d, Words (&to)[4]) {
  const auto ab = _mm512_unpacklo_epi8(a, b), ab_high = _mm512_unpackhi_epi8(a, b), cd = _mm512_unpacklo_epi8(c, d),
             cd_high = _mm512_unpackhi_epi8(c, d);
  to[0] = (Words)_mm512_unpacklo_epi16(ab, cd);
  to[1] = (Words)_mm512_unpackhi_epi16(ab, cd);
  to[2] = (Words)_mm512_unpacklo_epi16(ab_high, cd_high);
  to[3] = (Words)_mm512_unpackhi_epi16(ab_high, cd_high);
}

// Four taps at a time: their bytes interleaved are what one instruction multiplies and adds.
static void u8_depthwise(const U8DepthwiseRow& r) {
  constexpr i64 kMaxGroups = 16;
  const i64 groups = (r.tap_count + 3) / 4;
  Words weights[kMaxGroups][4];
  const auto zero = _mm512_setzero_si512();
  const auto tap_of = [&](i64 tap, auto bytes) { return tap < r.tap_count ? bytes(tap) : zero; };
  for (i64 g = 0; g < groups; ++g) {
    const auto bytes_of = [&](i64 tap) { return _mm512_loadu_si512(r.weights + tap * 64); };
    interleave(tap_of(4 * g, bytes_of), tap_of(4 * g + 1, bytes_of), tap_of(4 * g + 2, bytes_of),
               tap_of(4 * g + 3, bytes_of), weights[g]);
  }
  Vec scale[4], shift[4];
  for (int v = 0; v < 4; ++v) {
    float lanes[2][16];
    for (int l = 0; l < 16; ++l) {
      lanes[0][l] = r.scale[l / 4 * 16 + v * 4 + l % 4];
      lanes[1][l] = r.shift[l / 4 * 16 + v * 4 + l % 4];
    }
    scale[v] = load(lanes[0]);
    shift[v] = load(lanes[1]);
  }
  const Vec low = spread(r.low), high = spread(r.high);
  for (i64 x = 0; x < r.pixels; ++x) {
    const Word* in = r.in + x * r.step;
    const auto bytes_of = [&](i64 tap) { return _mm512_loadu_si512(in + r.taps[tap]); };
    Ints sum[4] = {};
    i64 g = 0;
    for (; 4 * g + 4 <= r.tap_count; ++g) {
      Words four[4];
      interleave(bytes_of(4 * g), bytes_of(4 * g + 1), bytes_of(4 * g + 2), bytes_of(4 * g + 3), four);
      for (int v = 0; v < 4; ++v) dot_u8(four[v], weights[g][v], sum[v]);
    }
    if (g < groups) {
      Words four[4];
      interleave(bytes_of(4 * g), tap_of(4 * g + 1, bytes_of), tap_of(4 * g + 2, bytes_of), zero, four);
      for (int v = 0; v < 4; ++v) dot_u8(four[v], weights[g][v], sum[v]);
    }
    Vec value[4];
    for (int v = 0; v < 4; ++v)
      value[v] = min(high, max(low, __builtin_convertvector(sum[v], Vec) * scale[v] + shift[v]));
    if (r.wide) {
      for (int v = 0; v < 4; ++v) {
        float lanes[16];
        store(lanes, value[v]);
        for (i64 block = 0; block < r.wide_blocks; ++block)
          __builtin_memcpy(r.wide + block * r.wide_block + x * 16 + v * 4, lanes + block * 4, 16);
      }
      continue;
    }
    const auto level = [&](int v) { return _mm512_cvtps_epi32(value[v]); };
    _mm512_storeu_si512(r.out + x * 64, _mm512_packus_epi16(_mm512_packs_epi32(level(0), level(1)),
                                                            _mm512_packs_epi32(level(2), level(3))));
  }
}
#include "fast/isa/narrow.inl"
}  // namespace
extern const NarrowTable kNarrowAvx512Table = narrow_table("avx512");
}  // namespace ovir::fast
#endif
