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

// Uses all of them.
#include "fast/isa/vnni.inl"
}  // namespace
extern const NarrowTable kNarrowVnniTable = vnni_table("vnni");
}  // namespace ovir::fast
#endif
