// Compiled with AVX-512's BW, VL and VNNI: what machines have that have no BF16 yet.
#include "fast/isa/narrow.hpp"
#if defined(__AVX512VNNI__)
#include <immintrin.h>

namespace ovir::fast {
namespace {
#include "fast/isa/vector_avx512.inl"
#include "fast/isa/words.inl"
// These use both.
#include "fast/isa/bf16_plain.inl"
#include "fast/isa/u8_avx512.inl"

#include "fast/isa/columns.inl"
// Uses columns.
#include "fast/isa/columns_u8.inl"
#include "fast/isa/digits.inl"
#include "fast/isa/gelu_short_avx512.inl"
// Uses gelu_short.
#include "fast/isa/narrow.inl"

constexpr NarrowTable with_digits() {
  auto table = narrow_table("vnni");
  table.has_u8 = true;
  table.to_digits = to_digits;
  table.dot_digits = dot_digits;
  return table;
}
}  // namespace
extern const NarrowTable kNarrowVnniTable = with_digits();
}  // namespace ovir::fast
#endif
