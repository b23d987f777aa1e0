// Compiled with -mavx2 -mfma -mf16c.
#include "fast/isa/lines.hpp"
#if defined(__AVX2__)
#include <immintrin.h>

namespace ovir::fast {
namespace {

constexpr i64 kVectorBytes = 32;
using Ranks = std::int32_t __attribute__((vector_size(32)));
inline void lesser(const Ranks& a, const Ranks& b, Ranks& to) { to = (Ranks)_mm256_min_epi32((__m256i)a, (__m256i)b); }
inline void larger(const Ranks& a, const Ranks& b, Ranks& to) { to = (Ranks)_mm256_max_epi32((__m256i)a, (__m256i)b); }
using Fours = double __attribute__((vector_size(32)));
using FourWords = std::int32_t __attribute__((vector_size(16)));
using FourFloats = float __attribute__((vector_size(16)));
inline void widen(FourFloats x, Fours& to) { to = (Fours)_mm256_cvtps_pd((__m128)x); }

using Pairs = std::uint64_t __attribute__((vector_size(kVectorBytes)));
inline Pairs low_products(Pairs a, Pairs b) { return (Pairs)_mm256_mul_epu32((__m256i)a, (__m256i)b); }

#include "fast/isa/lines.inl"

}  // namespace

extern const LineTable kLinesAvx2Table = line_table();

}  // namespace ovir::fast
#endif
