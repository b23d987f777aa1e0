// For any machine: vectors of four by the compiler's own types.
#include "fast/isa/table.hpp"

namespace ovir::fast {
namespace {
using Vec = float __attribute__((vector_size(16)));
constexpr i64 kWidth = 4, kSide = 2;
constexpr int kPixels = 6;
inline Vec load(const float* p) {
  Vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, Vec v) { __builtin_memcpy(p, &v, sizeof v); }
inline Vec spread(float s) { return Vec{s, s, s, s}; }
inline Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
// As x86 has them: the second operand where one is NaN.
inline Vec min(Vec a, Vec b) { return a < b ? a : b; }
inline Vec max(Vec a, Vec b) { return a > b ? a : b; }
inline Vec root(Vec a) {
  for (int i = 0; i < 4; ++i) a[i] = __builtin_sqrtf(a[i]);
  return a;
}
using Ints = int __attribute__((vector_size(16)));
inline Ints widened(const unsigned char* p) { return Ints{p[0], p[1], p[2], p[3]}; }
inline Ints widened(const signed char* p) { return Ints{p[0], p[1], p[2], p[3]}; }
inline Vec floats(Ints v) { return __builtin_convertvector(v, Vec); }
struct Sixteen {
  float values[16];
};
inline Sixteen sixteen(const float* p) {
  Sixteen table;
  __builtin_memcpy(table.values, p, sizeof table.values);
  return table;
}
inline Vec pick(const Sixteen& table, Ints at) {
  return Vec{table.values[at[0] & 15], table.values[at[1] & 15], table.values[at[2] & 15], table.values[at[3] & 15]};
}
#include "fast/isa/scaling.inl"

// The loops use what is above.
#include "fast/isa/all.inl"
}  // namespace
extern const IsaTable kBaseTable = table("baseline");
}  // namespace ovir::fast
