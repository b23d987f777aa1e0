// Compiled with AVX-512's BW, VL, BF16 and VNNI, and AMX's TILE, BF16 and INT8.
#include "fast/isa/narrow.hpp"
#if defined(__AVX512BF16__) && defined(__AVX512VNNI__)
#include <immintrin.h>

namespace ovir::fast {
namespace {
#include "fast/isa/vector_avx512.inl"
#include "fast/isa/words.inl"
// Uses both.
#include "fast/isa/u8_avx512.inl"

[[gnu::always_inline]] inline void dot_bf16(Words a, Words b, Vec& sum) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}
struct Bf16Dots : WholeWords {
  [[gnu::always_inline]] static void add(const Word* p, int, Words b0, Words b1, Vec (&sum)[2]) {
    const Words a = spread_word(p);
    dot_bf16(a, b0, sum[0]);
    dot_bf16(a, b1, sum[1]);
  }
  [[gnu::always_inline]] static void add(const Word* p, int, Words b, Vec (&sum)[1]) {
    dot_bf16(spread_word(p), b, sum[0]);
  }
  /// The same where sums take all other registers.
  [[gnu::always_inline]] static void add_alone(const Word* p, Words b, Vec& sum) {
    asm("vdpbf16ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(b), "m"(*p));
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

#include "fast/isa/vnni.inl"
// Uses columns.
#include "fast/isa/columns_bf16.inl"
// Uses what is unpacked, and takes other taps to the loops above.
#include "fast/isa/columns_bf16_wide.inl"

constexpr NarrowTable with_bf16() {
  auto table = vnni_table("avx512");
  table.has_bf16 = true;
  table.bf16_rows = bf16_rows<Bf16Dots>;
  table.bf16_depthwise = bf16_depthwise_columns;
  return table;
}

#include "fast/isa/parts_avx512.inl"
// Uses these parts.
#include "fast/isa/tiles_amx.inl"
// Uses parts and shapes.
#include "fast/isa/rows_amx.inl"
constexpr NarrowTable with_tiles() {
  auto table = with_bf16();
  table.name = "amx";
  table.pixels = kMostPixels;
  table.tiled = true;
  table.leaves_out = false;
  table.u8_rows = nullptr;
  table.bf16_rows = nullptr;
  table.bf16 = bf16_in_tiles;
  table.u8 = u8_in_tiles;
  table.finish = finish_aside;
  table.to_bf16x3 = to_bf16x3;
  table.lines_to_bf16x3 = lines_to_bf16x3;
  table.bf16x3_rows = bf16x3_rows;
  return table;
}
}  // namespace
extern const NarrowTable kNarrowAvx512Table = with_bf16();
extern const NarrowTable kNarrowAmxTable = with_tiles();
}  // namespace ovir::fast
#endif
