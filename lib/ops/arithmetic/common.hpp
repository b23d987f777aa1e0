// What Ceiling and Floor share. F rounds a real number; integers are whole as they are.
#pragma once
#include "op/kit/elementwise.hpp"

namespace ovir::ops::arithmetic {

template <auto F>
void eval_whole(EvalContext& c) {
  eval_unary<Numbers>(c, []<class T>(T x) {
    if constexpr (std::is_integral_v<T>) return x;
    else return F(x);
  });
}

template <auto F>
void bounds_whole(InferContext& c) {
  bounds_elementwise(c, [](Interval v) { return monotone(v, F, true); });
}

}  // namespace ovir::ops::arithmetic
