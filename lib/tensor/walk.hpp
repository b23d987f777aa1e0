// Walking over indices, written once for all kernels.
#pragma once
#include <cstdint>
#include <vector>

#include "tensor/dim.hpp"
#include "tensor/tensor.hpp"

namespace ovir {

/// Every index of a shape in row-major order; one step for a scalar, none for an empty shape.
///   for (IndexWalker at(shape); !at.done(); at.next()) use(at[0], at[1]);
class IndexWalker {
 public:
  explicit IndexWalker(Shape shape);
  bool done() const { return done_; }
  void next() {
    for (auto axis = index_.size(); axis-- > 0;) {
      if (++index_[axis] < shape_[axis]) return;
      index_[axis] = 0;
    }
    done_ = true;
  }
  i64 operator[](std::size_t axis) const { return index_[axis]; }
  const Shape& index() const { return index_; }
  /// The dot product with strides.
  i64 offset(const Shape& strides) const {
    i64 sum = 0;
    for (std::size_t i = 0; i < index_.size(); ++i) sum += index_[i] * strides[i];
    return sum;
  }

 private:
  Shape shape_, index_;
  bool done_;
};

/// A shape seen along one of its axes, as [outer, length, inner].
struct AxisView {
  AxisView(const Shape& shape, i64 axis);
  i64 outer = 1, length, inner = 1;
  /// Where element [o, k, i] is.
  i64 offset(i64 o, i64 k, i64 i) const { return (o * length + k) * inner + i; }
  /// The lines along the axis, and where the first element of one is; the others follow `inner` apart.
  i64 lines() const { return outer * inner; }
  i64 line(i64 n) const { return offset(n / inner, 0, n % inner); }
};

/// Strides with which a tensor of shape `from` is read along the axes of `to` (numpy broadcasting): 0 where repeated.
Shape broadcast_strides(const Shape& from, const Shape& to);

/// Two inputs walked over a broadcast output: calls row(a_offset, b_offset, out_offset, n, a_step, b_step) for runs
/// along the innermost axis, with axes merged where their strides allow.
struct BroadcastPlan {
  BroadcastPlan(const Shape& a, const Shape& b, const Shape& out);
  Shape outer, a_outer, b_outer;  ///< merged outer axes and the strides along them
  i64 run = 1, a_step = 0, b_step = 0;
  template <class F>
  void rows(F&& row) const {
    i64 out = 0;
    for (IndexWalker at(outer); !at.done(); at.next(), out += run)
      row(at.offset(a_outer), at.offset(b_outer), out, run, a_step, b_step);
  }
};

/// out[i] = f(a[i], b[i]) with broadcasting.
template <class A, class B, class O, class F>
void broadcast_binary(const Tensor& a, const Tensor& b, Tensor& out, F f) {
  if (out.size() == 0) return;
  const BroadcastPlan plan(a.shape(), b.shape(), out.shape());
  const A* pa = a.data<A>();
  const B* pb = b.data<B>();
  O* po = out.mutable_data<O>();
  plan.rows([&](i64 oa, i64 ob, i64 oo, i64 n, i64 sa, i64 sb) {
    const A* x = pa + oa;
    const B* y = pb + ob;
    O* z = po + oo;
    if (sa == 1 && sb == 1)
      for (i64 i = 0; i < n; ++i) z[i] = f(x[i], y[i]);
    else if (sa == 1)
      for (i64 i = 0; i < n; ++i) z[i] = f(x[i], *y);
    else if (sb == 1)
      for (i64 i = 0; i < n; ++i) z[i] = f(*x, y[i]);
    else
      for (i64 i = 0; i < n; ++i) z[i] = f(*x, *y);
  });
}

}  // namespace ovir
