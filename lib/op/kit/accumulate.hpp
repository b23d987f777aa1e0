// The inner loop of convolution, matrix product and recurrent cells.
#pragma once
#include <cstdint>
#include <type_traits>

#include "base/int.hpp"

namespace ovir {

/// a + b * c; integers wrap.
template <class T>
inline T multiply_add(T a, T b, T c) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) +
                          static_cast<std::uint64_t>(b) * static_cast<std::uint64_t>(c));
  else return a + b * c;
}

/// out[j] += Σ weight[t] * from[offset[t] + j * step], terms added in the order of t.
/// Four terms a pass: `out` is read and written a quarter as often, and the compiler vectorises over j.
template <class T>
void accumulate(T* __restrict out, i64 n, const T* __restrict from, const i64* offset, i64 step, const T* weight,
                i64 terms) {
  i64 t = 0;
  for (; t + 4 <= terms; t += 4) {
    const T *a = from + offset[t], *b = from + offset[t + 1], *c = from + offset[t + 2], *d = from + offset[t + 3];
    const T wa = weight[t], wb = weight[t + 1], wc = weight[t + 2], wd = weight[t + 3];
    const auto sum = [&](i64 j, i64 k) {
      out[j] = multiply_add(multiply_add(multiply_add(multiply_add(out[j], wa, a[k]), wb, b[k]), wc, c[k]), wd, d[k]);
    };
    if (step == 1)
      for (i64 j = 0; j < n; ++j) sum(j, j);
    else
      for (i64 j = 0; j < n; ++j) sum(j, j * step);
  }
  for (; t < terms; ++t) {
    const T* a = from + offset[t];
    for (i64 j = 0; j < n; ++j) out[j] = multiply_add(out[j], weight[t], a[j * step]);
  }
}

}  // namespace ovir
