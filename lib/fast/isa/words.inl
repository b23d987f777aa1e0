// Vectors of words (narrow.hpp), in terms of kWidth.
#include "fast/isa/in_parts.inl"

using Words = Word __attribute__((vector_size(4 * kWidth)));
using Ints = int __attribute__((vector_size(4 * kWidth)));

inline Words load_words(const Word* p) {
  Words w;
  __builtin_memcpy(&w, p, sizeof w);
  return w;
}
inline void store_words(Word* p, Words w) { __builtin_memcpy(p, &w, sizeof w); }

/// In the place of a function: there is no activation.
struct NoFunction {
  Vec operator()(Vec v) const { return v; }
};
/// The same of PRelu, which has factors of its own.
struct Slopes {};
template <class F>
constexpr bool kActivates = true;
template <>
constexpr bool kActivates<NoFunction> = false;
/// f(v)·by + plus.
template <class F>
[[gnu::always_inline]] inline Vec activated(const F& f, Vec v, Vec by, Vec plus, [[maybe_unused]] Vec below) {
  if constexpr (__is_same(F, Slopes)) return fma(v, v < spread(0.0f) ? below : by, plus);
  else return fma(f(v), by, plus);
}

/// The sums of P pixels by two vectors.
template <int P>
[[gnu::always_inline]] inline void store_sums(const Ints (&sum)[P][2], Ints (*to)[2]) {
#pragma GCC unroll 16
  for (int p = 0; p < P; ++p) {
    to[p][0] = sum[p][0];
    to[p][1] = sum[p][1];
  }
}
