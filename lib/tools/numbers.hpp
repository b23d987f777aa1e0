// Elements as f64, some thousands at a time: of a tensor of gigabytes there is never another copy.
#pragma once
#include <algorithm>

#include "tensor/tensor.hpp"

namespace ovir::tools {

/// Elements [from, from + count), as a tensor of rank 1 that shares the bytes of `t`, which must not be packed.
inline Tensor part_of(const Tensor& t, i64 from, i64 count) {
  return {t.type(), {count}, t.owner(), t.bytes() + from * byte_width(t.type())};
}

/// Calls `f(part, position of its first element)` for parts that are all of `t`, which must not be packed.
template <class F>
void each_part(const Tensor& t, F&& f) {
  constexpr i64 most = 1 << 16;
  for (i64 begin = 0; begin < t.size(); begin += most) f(part_of(t, begin, std::min(most, t.size() - begin)), begin);
}

/// Calls `f(number)` for each element in row-major order. Not for strings.
template <class F>
void each_number(const Tensor& tensor, F&& f) {
  each_part(tensor.unpacked(), [&](const Tensor& part, i64) {
    for (const double v : to_f64(part)) f(v);
  });
}

/// Calls `f(position, number in a, number in b)` for the elements of two tensors of as many. Not for strings.
template <class F>
void each_pair(const Tensor& a, const Tensor& b, F&& f) {
  const auto other = b.unpacked();
  each_part(a.unpacked(), [&](const Tensor& part, i64 begin) {
    const auto x = to_f64(part), y = to_f64(part_of(other, begin, part.size()));
    for (i64 i = 0; i < part.size(); ++i) f(begin + i, x[i], y[i]);
  });
}

}  // namespace ovir::tools
