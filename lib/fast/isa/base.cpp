// For any machine: vectors of four by the compiler's own types.
#include "fast/isa/table.hpp"

namespace ovir::fast {
namespace {
using Vec = float __attribute__((vector_size(16)));
constexpr std::int64_t kWidth = 4, kSide = 2;
inline Vec load(const float* p) {
  Vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, Vec v) { __builtin_memcpy(p, &v, sizeof v); }
inline Vec spread(float s) { return Vec{s, s, s, s}; }
inline Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
#include "fast/isa/loops.inl"
}  // namespace
extern const IsaTable kBaseTable = {6, tile, dot, axpy};
}  // namespace ovir::fast
