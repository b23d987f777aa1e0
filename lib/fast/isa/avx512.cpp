// Compiled with -mavx512f.
#include "fast/isa/table.hpp"
#if defined(__AVX512F__)
#include <immintrin.h>

namespace ovir::fast {
namespace {
using Vec = __m512;
constexpr std::int64_t kWidth = 16, kSide = 4;
inline Vec load(const float* p) { return _mm512_loadu_ps(p); }
inline void store(float* p, Vec v) { _mm512_storeu_ps(p, v); }
inline Vec spread(float s) { return _mm512_set1_ps(s); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
#include "fast/isa/loops.inl"
}  // namespace
extern const IsaTable kAvx512Table = {6, tile, dot, axpy};
}  // namespace ovir::fast
#endif
