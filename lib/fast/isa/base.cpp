// For any machine: vectors of four by the compiler's own types.
#include "base/half.hpp"
#include "fast/isa/table.hpp"

namespace ovir::fast {
namespace {
#include "fast/isa/vector_base.inl"

constexpr i64 kSide = 2;
inline Vec load_some(const float* p, i64 n) {
  Vec v{};
  __builtin_memcpy(&v, p, static_cast<unsigned long>(n) * sizeof(float));
  return v;
}
inline void store_some(float* p, Vec v, i64 n) {
  __builtin_memcpy(p, &v, static_cast<unsigned long>(n) * sizeof(float));
}
inline void leave() {}
inline Vec root(Vec a) {
  for (int i = 0; i < 4; ++i) a[i] = __builtin_sqrtf(a[i]);
  return a;
}
using Ints = int __attribute__((vector_size(16)));
/// Beyond 2^23 floats are integers already.
inline Vec round_even(Vec x) {
  const Ints magnitude = (Ints)x & 0x7fffffff;
  const Vec shift = spread(8388608.0f), rounded = ((Vec)magnitude + shift) - shift;
  return (Vec)magnitude < shift ? (Vec)((Ints)rounded | ((Ints)x ^ magnitude)) : x;
}
inline Vec floor(Vec x) {
  const Vec r = round_even(x);
  return r > x ? r - spread(1.0f) : r;
}
inline bool any(Ints mask) { return (mask[0] | mask[1] | mask[2] | mask[3]) != 0; }
using Double = double __attribute__((vector_size(16)));
inline Double root(Double a) { return Double{__builtin_sqrt(a[0]), __builtin_sqrt(a[1])}; }
inline Double fma(Double a, Double b, Double c) { return a * b + c; }
template <class Narrow>
inline Vec from_narrow(const std::uint16_t* p) {
  float values[4];
  to_f32(reinterpret_cast<const Narrow*>(p), values, 4);
  return load(values);
}
inline Vec from_f16(const std::uint16_t* p) { return from_narrow<f16>(p); }
inline Vec from_bf16(const std::uint16_t* p) { return from_narrow<bf16>(p); }
inline Ints widened(const unsigned char* p) { return Ints{p[0], p[1], p[2], p[3]}; }
inline Ints widened(const signed char* p) { return Ints{p[0], p[1], p[2], p[3]}; }
inline Vec floats(Ints v) { return __builtin_convertvector(v, Vec); }
template <class Narrow>
inline void from_bytes(const unsigned char* p, Vec (&to)[2]) {
  const auto* from = reinterpret_cast<const Narrow*>(p);
  for (int i = 0; i < 8; ++i) to[i / 4][i % 4] = static_cast<float>(from[i]);
}
inline void from_f8e4m3(const unsigned char* p, Vec (&to)[2]) { from_bytes<f8e4m3>(p, to); }
inline void from_f8e5m2(const unsigned char* p, Vec (&to)[2]) { from_bytes<f8e5m2>(p, to); }
struct Levels {
  const float* all;
  explicit Levels(const float* p) : all(p) {}
  Vec of(Ints at) const { return Vec{all[at[0] & 15], all[at[1] & 15], all[at[2] & 15], all[at[3] & 15]}; }
};
inline Vec in_groups(const float* p, Ints at) { return spread(p[at[0]]); }
#include "fast/isa/gelu_short.inl"
#include "fast/isa/scaling.inl"
#include "fast/isa/square.inl"
#include "fast/isa/swish_short.inl"
// Uses its inverse.
#include "fast/isa/gelu.inl"

// The loops use what is above.
#include "fast/isa/all.inl"
}  // namespace
extern const IsaTable kBaseTable = table("baseline");
}  // namespace ovir::fast
