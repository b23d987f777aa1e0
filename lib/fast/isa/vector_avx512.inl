// Vectors of sixteen, compiled with -mavx512f.

using Vec = __m512;
constexpr i64 kWidth = 16;
constexpr int kPixels = 14;
inline Vec load(const float* p) { return _mm512_loadu_ps(p); }
inline void store(float* p, Vec v) { _mm512_storeu_ps(p, v); }
inline Vec spread(float s) { return _mm512_set1_ps(s); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
/// sum += *x · w. Compilers would move the sums of large tiles from register to register.
inline void add_product(Vec& sum, const float* x, Vec w) {
  asm("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(w), "m"(*x));
}
inline Vec min(Vec a, Vec b) { return _mm512_min_ps(a, b); }
inline Vec max(Vec a, Vec b) { return _mm512_max_ps(a, b); }
inline __mmask16 first_lanes(i64 n) {
  return static_cast<__mmask16>(n >= kWidth ? 0xffff : (1 << (n > 0 ? n : 0)) - 1);
}
inline Vec load_some(const float* p, i64 n) { return _mm512_maskz_loadu_ps(first_lanes(n), p); }
inline void store_some(float* p, Vec v, i64 n) { _mm512_mask_storeu_ps(p, first_lanes(n), v); }
inline float sum_of(Vec v) { return _mm512_reduce_add_ps(v); }
