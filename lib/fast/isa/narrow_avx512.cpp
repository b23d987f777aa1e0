// Compiled with AVX-512's BW, VL, BF16 and VNNI, and AMX's TILE, BF16 and INT8.
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
inline Vec fused(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
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
[[gnu::always_inline]] inline void dot_i16(Words a, Words b, Words& sum) {
  asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}
struct WholeWords {
  static constexpr int kParts = 1;
  static constexpr bool kAside = false;
  [[gnu::always_inline]] static Words right(Words b, int) { return b; }
};
struct Bf16Dots : WholeWords {
  [[gnu::always_inline]] static void add(const Word* p, int, Words b0, Words b1, Vec (&sum)[2]) {
    const Words a = spread_word(p);
    dot_bf16(a, b0, sum[0]);
    dot_bf16(a, b1, sum[1]);
  }
};
struct U8Dots : WholeWords {
  [[gnu::always_inline]] static void add(const Word* p, int, Words b0, Words b1, Ints (&sum)[2]) {
    const Words a = spread_word(p);
    dot_u8(a, b0, sum[0]);
    dot_u8(a, b1, sum[1]);
  }
};
struct I16Dots : WholeWords {
  [[gnu::always_inline]] static void add(const Word* p, int, Words b0, Words b1, Words (&sum)[2]) {
    const Words a = spread_word(p);
    dot_i16(a, b0, sum[0]);
    dot_i16(a, b1, sum[1]);
  }
};
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
/// Bounds of levels, in bytes.
struct LevelBounds {
  __m512i low, high;
  LevelBounds(float lowest, float highest) : low(bytes(lowest)), high(bytes(highest)) {}
  static __m512i bytes(float level) {
    const int whole = _mm_cvtss_si32(_mm_set_ss(level));
    return _mm512_set1_epi8(static_cast<char>(whole < 0 ? 0 : (whole > 255 ? 255 : whole)));
  }
  [[gnu::always_inline]] __m512i within(__m512i levels) const {
    return _mm512_min_epu8(high, _mm512_max_epu8(low, levels));
  }
};
struct Saturated {
  [[gnu::always_inline]] __m512i within(__m512i levels) const { return levels; }
};
/// Two pixels of 32 channels, as bytes in the order of their lanes.
[[gnu::always_inline]] inline __m512i packed_levels(const Vec (&v)[2], const Vec (&w)[2]) {
  const auto pair = [](const Vec(&x)[2]) {
    return _mm512_packs_epi32(_mm512_cvtps_epi32(x[0]), _mm512_cvtps_epi32(x[1]));
  };
  return _mm512_packus_epi16(pair(v), pair(w));
}
[[gnu::always_inline]] inline void store_levels(std::uint8_t* a, std::uint8_t* b, __m512i levels) {
  const auto order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const auto both = _mm512_permutexvar_epi32(order, levels);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(a), _mm512_castsi512_si256(both));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(b), _mm512_extracti64x4_epi64(both, 1));
}
/// Two pixels of 32 channels; the second way for values within ±2^30, which saturate as they are packed.
inline void store_u8(std::uint8_t* a, std::uint8_t* b, const Vec (&v)[2], const Vec (&w)[2]) {
  store_levels(a, b, packed_levels(v, w));
}
template <class Bounds>
[[gnu::always_inline]] inline void store_u8(std::uint8_t* a, std::uint8_t* b, const Vec (&v)[2], const Vec (&w)[2],
                                            const Bounds& bounds) {
  store_levels(a, b, bounds.within(packed_levels(v, w)));
}
inline Vec load_u8(const std::uint8_t* p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}

#include "fast/isa/columns.inl"
// Uses columns.
#include "fast/isa/columns_u8.inl"
#include "fast/isa/digits.inl"
#include "fast/isa/gelu_short_avx512.inl"
// Uses gelu_short.
#include "fast/isa/narrow.inl"
// Takes other taps than 3 × 3 to the loops above.
#include "fast/isa/columns_bf16.inl"
constexpr NarrowTable with_digits() {
  auto table = narrow_table("avx512");
  table.has_bf16 = table.has_u8 = true;
  table.bf16_depthwise = bf16_depthwise_columns;
  table.to_digits = to_digits;
  table.dot_digits = dot_digits;
  return table;
}

#include "fast/isa/parts_avx512.inl"
// Uses these parts.
#include "fast/isa/tiles_amx.inl"
// Uses parts and shapes.
#include "fast/isa/rows_amx.inl"
constexpr NarrowTable with_tiles() {
  auto table = with_digits();
  table.name = "amx";
  table.pixels = kMostPixels;
  table.tiled = true;
  table.bf16 = bf16_in_tiles;
  table.u8 = u8_in_tiles;
  table.finish = finish_aside;
  table.to_bf16x3 = to_bf16x3;
  table.lines_to_bf16x3 = lines_to_bf16x3;
  table.bf16x3_rows = bf16x3_rows;
  return table;
}
}  // namespace
extern const NarrowTable kNarrowAvx512Table = with_digits();
extern const NarrowTable kNarrowAmxTable = with_tiles();
}  // namespace ovir::fast
#endif
