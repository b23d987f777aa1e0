// What reductions share: the axes, the loop over an input whose axes are kept or reduced, and the signature.
#pragma once
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "op/kit/elementwise_attrs.hpp"
#include "op/op.hpp"

namespace ovir {

enum ReduceInput { kReduceData, kReduceAxes };

void infer_reduce(InferContext&);

/// A shape whose axes are either kept or reduced, neighbours of one kind merged.
struct ReducePlan {
  /// `axes` in [-rank, rank), in any order; one named twice counts once.
  ReducePlan(const Shape& shape, std::span<const i64> axes);

  Shape outer;          ///< all merged axes but the last
  Shape outer_strides;  ///< along them in the output: 0 where reduced
  i64 run = 1;          ///< the length of the last one
  bool run_is_reduced = false;
  i64 outputs = 1;  ///< elements of the output
  i64 each = 1;     ///< elements of the input that make one of the output

  /// Calls row(offset in the output, offset in the input) for each run, in the input's order.
  template <class F>
  void rows(F&& row) const {
    if (run == 0) return;
    i64 in = 0;
    for (IndexWalker at(outer); !at.done(); at.next(), in += run) row(at.offset(outer_strides), in);
  }
};

/// fold(state, x) over the elements of every reduction; `state` holds what each begins with. Terms come in the input's
/// order.
template <class State, class T, class Fold>
void reduce(const ReducePlan& plan, const T* x, std::span<State> state, Fold fold) {
  plan.rows([&](i64 out, i64 in) {
    const T* from = x + in;
    State* to = state.data() + out;
    if (plan.run_is_reduced) {
      auto s = *to;
      for (i64 i = 0; i < plan.run; ++i) s = fold(s, from[i]);
      *to = s;
    } else {
      for (i64 i = 0; i < plan.run; ++i) to[i] = fold(to[i], from[i]);
    }
  });
}

/// The whole kernel: State is what T is summed in, `finish` makes the result of a state and the count of elements.
template <class T, class State, class Fold, class Finish>
void reduce_into(EvalContext& c, State init, Fold fold, Finish finish) {
  const auto& data = c.in(kReduceData);
  T* out = c.out(0).mutable_data<T>();
  const ReducePlan plan(data.shape(), c.ints(kReduceAxes));
  std::pmr::vector<State> states(plan.outputs, init, c.memory());
  reduce<State>(plan, data.data<T>(), states, fold);
  for (std::size_t i = 0; i < states.size(); ++i) out[i] = static_cast<T>(finish(states[i], plan.each));
}

/// What sums and products are kept in: floats in f64, whose error is far below that of f32 in any order, integers
/// modulo 2^64.
template <class T>
using Accumulator = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

/// Folds the known intervals of `data` along known axes; for reductions of shapes.
void bounds_reduce(InferContext&, Interval init, Interval (*fold)(Interval, Interval));

inline constexpr auto kReduceAttrs = attributes<ReduceAttrs, Attr<"keep_dims", &ReduceAttrs::keep_dims>>;
inline constexpr TypeVar kReduceT{"T", kNumeric}, kReduceBooleanT{"T_BOOL", kBoolean}, kReduceAxesT{"T_IND", kInteger};
inline constexpr PortDef kReduceInputs[] = {{"data", kReduceT}, {"axes", kReduceAxesT}};
inline constexpr PortDef kReduceOutput[] = {{"output", kReduceT}};
inline constexpr PortDef kReduceBooleanInputs[] = {{"data", kReduceBooleanT}, {"axes", kReduceAxesT}};
inline constexpr PortDef kReduceBooleanOutput[] = {{"output", kReduceBooleanT}};

consteval Version reduce_version(int since, EvalFn eval, InferFn bounds = nullptr) {
  return {.since = since,
          .inputs = kReduceInputs,
          .outputs = kReduceOutput,
          .attrs = kReduceAttrs,
          .infer = infer_reduce,
          .reads = ports(kReduceAxes),
          .eval = eval,
          .bounds = bounds,
          .error = ErrorBound::sums};
}
consteval Version logical_reduce_version(int since, EvalFn eval) {
  return {.since = since,
          .inputs = kReduceBooleanInputs,
          .outputs = kReduceBooleanOutput,
          .attrs = kReduceAttrs,
          .infer = infer_reduce,
          .reads = ports(kReduceAxes),
          .eval = eval};
}

}  // namespace ovir
