// For any machine: vectors of four by the compiler's own types.

using Vec = float __attribute__((vector_size(16)));
constexpr i64 kWidth = 4;
constexpr int kPixels = 6;
inline Vec load(const float* p) {
  Vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, Vec v) { __builtin_memcpy(p, &v, sizeof v); }
inline Vec spread(float s) { return Vec{s, s, s, s}; }
inline Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
inline void add_product(Vec& sum, const float* x, Vec w) { sum = fma(spread(*x), w, sum); }
// As x86 has them: the second operand where one is NaN.
inline Vec min(Vec a, Vec b) { return a < b ? a : b; }
inline Vec max(Vec a, Vec b) { return a > b ? a : b; }
