// What element-wise operations share: broadcasting of two operands, the loops, and the usual signatures.
#pragma once
#include <cstdint>
#include <type_traits>

#include "op/kit/elementwise_attrs.hpp"
#include "op/op.hpp"

namespace ovir {

// --- shapes

/// Output 0 has the shape of input 0.
void infer_unary(InferContext&);
/// Inputs 0 and 1 under BroadcastAttrs.
void infer_binary(InferContext&);
/// The shape that inputs `a` and `b` have together under `rule`.
PartialShape broadcast_shape(const InferContext&, int a, int b, BroadcastRule rule);
/// Input `port` must broadcast to the shape of input 0 and leave it as it is. More axes than input 0 has are let pass
/// where they are 1, unless `strict`. What it tells of the lengths goes into `shape`, which begins as that of input 0.
void require_broadcast_into(const InferContext&, int port, PartialShape& shape, bool strict = false);

// --- values

/// `b` under the shape with which numpy's rules do to it what `rule` demands beside an operand of rank `rank`.
Tensor as_numpy_operand(const Tensor& b, i64 rank, BroadcastRule rule);
/// Strides to read `from` along the axes of `to`, as broadcast_strides, but excess leading axes of 1 are dropped.
Shape strides_into(const Shape& from, const Shape& to);

/// out[i] = f(in[i]) for a function of the element type itself.
template <class Types, class F>
void eval_unary(EvalContext& c, F f) {
  const auto& from = c.in(0);
  auto& to = c.out(0);
  dispatch(from.type(), Types{}, [&]<class T>() {
    // A predicate's result is stored as the byte of a boolean.
    using R = std::conditional_t<std::is_same_v<std::invoke_result_t<F, T>, bool>, std::uint8_t, T>;
    const T* x = from.data<T>();
    R* y = to.mutable_data<R>();
    for (i64 i = 0; i < from.size(); ++i) y[i] = static_cast<R>(f(x[i]));
  });
}

/// Rounded to the nearest integer of the type `declared`, saturated; NaN becomes 0.
void round_into(const Tensor& floats, ElementType declared, Tensor& integers);

/// out[i] = f(in[i]) for a function of the real numbers. Integers are taken through f64 and rounded to the nearest:
/// the specifications allow them without saying how; OpenVINO's reference kernels round.
template <class F>
void eval_real(EvalContext& c, F f) {
  const auto& from = c.in(0);
  auto& to = c.out(0);
  const auto apply = [&]<class T>(const Tensor& in, Tensor& out) {
    const T* x = in.data<T>();
    T* y = out.mutable_data<T>();
    for (i64 i = 0; i < in.size(); ++i) y[i] = f(x[i]);
  };
  if (from.type() == ElementType::f32) return apply.template operator()<float>(from, to);
  if (from.type() == ElementType::f64) return apply.template operator()<double>(from, to);
  auto wide = convert(from, ElementType::f64);
  Tensor result(ElementType::f64, from.shape());
  apply.template operator()<double>(wide, result);
  round_into(result, c.declared_out_type(0), to);
}

/// out[i] = f(a[i], b[i]) with broadcasting; a predicate's results are booleans.
template <class Types, class F>
void eval_binary(EvalContext& c, BroadcastRule rule, F f) {
  const auto& a = c.in(0);
  const auto b = as_numpy_operand(c.in(1), a.rank(), rule);
  auto& out = c.out(0);
  dispatch(a.type(), Types{}, [&]<class T>() {
    using R = std::conditional_t<std::is_same_v<std::invoke_result_t<F, T, T>, bool>, std::uint8_t, T>;
    broadcast_binary<T, T, R>(a, b, out, [f](T x, T y) { return static_cast<R>(f(x, y)); });
  });
}
template <class Types, class F>
void eval_binary(EvalContext& c, F f) {
  eval_binary<Types>(c, c.attrs<BroadcastAttrs>().rule(), f);
}

/// Integers are added, subtracted and multiplied modulo 2^bits: in u64, where overflow is defined.
template <class T>
constexpr auto wide(T x) {
  if constexpr (std::is_integral_v<T>) return static_cast<std::uint64_t>(x);
  else return x;
}

/// The largest finite number of a real type: narrow ones come as f32, whose own is infinity to them.
double largest_finite(ElementType);
/// What is not above, or below, anything of the element type `stored`, which comes as T: integers of fewer than 8 bits
/// as bytes.
template <class T>
T lowest(ElementType stored) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::numeric_limits<T>::min() >> (8 * static_cast<int>(sizeof(T)) - bit_width(stored)));
  else return static_cast<T>(-largest_finite(stored));
}
template <class T>
T highest(ElementType stored) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::numeric_limits<T>::max() >> (8 * static_cast<int>(sizeof(T)) - bit_width(stored)));
  else return static_cast<T>(largest_finite(stored));
}

// --- bounds of shape arithmetic

/// Interval arithmetic; a neutral operand keeps the other's symbol.
Interval operator+(Interval, Interval);
Interval operator-(Interval, Interval);
Interval operator*(Interval, Interval);
Interval min(Interval, Interval);
Interval max(Interval, Interval);

/// A monotone function of one value. Exact integers keep their symbol where `keeps`.
template <class F>
Interval monotone(Interval v, F f, bool keeps) {
  return {f(v.lo), f(v.hi), keeps ? v.symbol : 0};
}

// --- signatures

inline constexpr TypeVar kNumericT{"T", kNumeric}, kFloatT{"T", kFloat | kNarrowFloat}, kBooleanT{"T_BOOL", kBoolean};
inline constexpr PortDef kNumericInput[] = {{"data", kNumericT}};
inline constexpr PortDef kNumericOutput[] = {{"output", kNumericT}};
inline constexpr PortDef kFloatInput[] = {{"data", kFloatT}};
inline constexpr PortDef kFloatOutput[] = {{"output", kFloatT}};
inline constexpr PortDef kNumericPair[] = {{"a", kNumericT}, {"b", kNumericT}};
inline constexpr PortDef kBooleanPair[] = {{"a", kBooleanT}, {"b", kBooleanT}};
inline constexpr PortDef kBooleanOutput[] = {{"output", kBooleanT}};

inline constexpr auto kBroadcastAttrs =
    attributes<BroadcastAttrs, Attr<"auto_broadcast", &BroadcastAttrs::auto_broadcast>,
               Attr<"auto_broadcast.auto_broadcast_axis", &BroadcastAttrs::auto_broadcast_axis>>;

/// Versions with the usual signatures.
consteval Version unary_version(int since, EvalFn eval, InferFn bounds = nullptr) {
  return {.since = since,
          .inputs = kNumericInput,
          .outputs = kNumericOutput,
          .infer = infer_unary,
          .eval = eval,
          .bounds = bounds,
          .error = ErrorBound::elementwise};
}
consteval Version float_version(int since, EvalFn eval) {
  return {.since = since,
          .inputs = kFloatInput,
          .outputs = kFloatOutput,
          .infer = infer_unary,
          .eval = eval,
          .error = ErrorBound::elementwise};
}
consteval Version binary_version(int since, EvalFn eval, InferFn bounds = nullptr) {
  return {.since = since,
          .inputs = kNumericPair,
          .outputs = kNumericOutput,
          .attrs = kBroadcastAttrs,
          .infer = infer_binary,
          .eval = eval,
          .bounds = bounds,
          .error = ErrorBound::elementwise};
}

}  // namespace ovir
