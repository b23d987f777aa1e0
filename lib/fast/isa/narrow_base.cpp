// For any machine: vectors of four by the compiler's own types.
#include "fast/isa/narrow.hpp"

namespace ovir::fast {
namespace {
#include "fast/isa/vector_base.inl"
/// The product is exact in double precision; a sum that is not is rounded to the odd neighbor, so that rounding it to
/// single precision rounds what it stands for.
inline Vec fused(Vec a, Vec b, Vec c) {
  using Doubles = double __attribute__((vector_size(8 * kWidth)));
  using Bits = i64 __attribute__((vector_size(8 * kWidth)));
  const Doubles product = __builtin_convertvector(a, Doubles) * __builtin_convertvector(b, Doubles),
                plus = __builtin_convertvector(c, Doubles), sum = product + plus, part = sum - product,
                error = (product - (sum - part)) + (plus - part), zero{};
  const Bits bits = (Bits)sum, even = (bits & 1) - 1, away = (error > zero) == (sum > zero);
  const Bits odd = bits + (((error != zero) & even) & (-2 * away - 1));
  return __builtin_convertvector((Doubles)odd, Vec);
}
// These use the vectors.
#include "fast/isa/gelu_short.inl"
constexpr bool kSwishes = false;
#include "fast/isa/words.inl"
// These use words.inl.
#include "fast/isa/bf16_plain.inl"
#include "fast/isa/u8_plain.inl"
// Uses all.
#include "fast/isa/narrow.inl"
}  // namespace
extern const NarrowTable kNarrowBaseTable = narrow_table("baseline");
}  // namespace ovir::fast
