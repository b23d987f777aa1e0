// Compiled with -mavx2 -mfma.
#include "fast/isa/table.hpp"
#if defined(__AVX2__)
#include <immintrin.h>

namespace ovir::fast {
namespace {
using Vec = __m256;
constexpr std::int64_t kWidth = 8, kSide = 2;
inline Vec load(const float* p) { return _mm256_loadu_ps(p); }
inline void store(float* p, Vec v) { _mm256_storeu_ps(p, v); }
inline Vec spread(float s) { return _mm256_set1_ps(s); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
#include "fast/isa/loops.inl"
}  // namespace
extern const IsaTable kAvx2Table = {6, tile, dot, axpy};
}  // namespace ovir::fast
#endif
