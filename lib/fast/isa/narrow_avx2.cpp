// Compiled with -mavx2 -mfma.
#include "fast/isa/narrow.hpp"
#if defined(__AVX2__)
#include <immintrin.h>

namespace ovir::fast {
namespace {
#include "fast/isa/vector_avx2.inl"
inline Vec fused(Vec a, Vec b, Vec c) { return fma(a, b, c); }
// These use the vectors.
#include "fast/isa/columns.inl"
#include "fast/isa/digits_avx2.inl"
#include "fast/isa/gelu_short.inl"
constexpr bool kSwishes = false;
#include "fast/isa/words.inl"
// These use words.inl.
#include "fast/isa/bf16_plain.inl"
#include "fast/isa/u8_avx2.inl"
// Uses all.
#include "fast/isa/narrow.inl"

static constexpr NarrowTable avx2_table() {
  auto table = narrow_table("avx2");
  table.to_digits = to_digits;
  table.dot_digits = dot_digits;
  return table;
}
}  // namespace
extern const NarrowTable kNarrowAvx2Table = avx2_table();
}  // namespace ovir::fast
#endif
