// Vectors of eight, compiled with -mavx2 -mfma.

using Vec = __m256;
constexpr i64 kWidth = 8;
constexpr int kPixels = 6;
inline Vec load(const float* p) { return _mm256_loadu_ps(p); }
inline void store(float* p, Vec v) { _mm256_storeu_ps(p, v); }
inline Vec spread(float s) { return _mm256_set1_ps(s); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
inline void add_product(Vec& sum, const float* x, Vec w) { sum = fma(spread(*x), w, sum); }
inline Vec min(Vec a, Vec b) { return _mm256_min_ps(a, b); }
inline Vec max(Vec a, Vec b) { return _mm256_max_ps(a, b); }
inline __m256i first_lanes(i64 n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline Vec load_some(const float* p, i64 n) { return _mm256_maskload_ps(p, first_lanes(n)); }
inline void store_some(float* p, Vec v, i64 n) { _mm256_maskstore_ps(p, first_lanes(n), v); }
inline float sum_of(Vec v) {
  const auto four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const auto two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return two[0] + two[1];
}
