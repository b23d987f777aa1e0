// The loops of AVX-512 with VNNI, behind words, u8_avx512.inl and what bf16 is.
#include "fast/isa/columns.inl"
// Uses columns.
#include "fast/isa/columns_u8.inl"
#include "fast/isa/digits_avx512.inl"
#include "fast/isa/gelu_short_avx512.inl"
#include "fast/isa/swish_short_avx512.inl"
constexpr bool kSwishes = true;
// Uses both.
#include "fast/isa/narrow.inl"
// Uses these loops.
#include "fast/isa/narrow_groups.inl"

static constexpr NarrowTable vnni_table(const char* name) {
  auto table = narrow_table(name);
  table.has_u8 = true;
  table.leaves_out = true;
  table.u8_rows = u8_rows;
  table.to_digits = to_digits;
  table.dot_digits = dot_digits;
  return table;
}
