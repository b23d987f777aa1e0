// Select: the elements of `then` where `cond` is true, of `else` where it is not.
// Spec: operation-sets/operation-specs/condition/select-1
#include "op/kit/elementwise.hpp"

namespace ovir::ops::select {
namespace {

enum Input { cond, then, otherwise };

/// "cond tensor is one-way broadcasted to the resulting shape of broadcasted then and else". With numpy's rules real
/// files, and OpenVINO, let `cond` widen the result as well.
void infer(InferContext& c) {
  const auto rule = c.attrs<BroadcastAttrs>().rule();
  auto out = broadcast_shape(c, then, otherwise, rule);
  std::optional<PartialShape> all;
  if (rule.kind == AutoBroadcast::numpy) {
    all = broadcast(out, c.shape(cond));
  } else if (rule.kind == AutoBroadcast::none) {
    all = intersect(out, c.shape(cond));
  } else {
    broadcast_shape(c, then, cond, rule);
    all = std::move(out);
  }
  c.require(all.has_value(), cond, Code::E0505, "{1} cannot broadcast \"cond\" {0} with \"then\" {2} and \"else\" {3}",
            to_string(c.shape(cond)), c.op().type, to_string(c.shape(then)), to_string(c.shape(otherwise)));
  c.output(0, std::move(*all));
}

void eval(EvalContext& c) {
  const auto rule = c.attrs<BroadcastAttrs>().rule();
  const auto& a = c.in(then);
  const auto b = as_numpy_operand(c.in(otherwise), a.rank(), rule), mask = as_numpy_operand(c.in(cond), a.rank(), rule);
  auto& out = c.out(0);
  if (out.size() == 0) return;
  const auto& shape = out.shape();
  const auto sa = broadcast_strides(a.shape(), shape), sb = broadcast_strides(b.shape(), shape),
             sm = broadcast_strides(mask.shape(), shape);

  // Rows along the innermost axis.
  const auto run = shape.empty() ? 1 : shape.back();
  const auto step = [&](const Shape& strides) { return shape.empty() ? 0 : strides.back(); };
  const auto step_a = step(sa), step_b = step(sb), step_m = step(sm);
  auto outer = shape;
  if (!outer.empty()) outer.back() = 1;
  dispatch_width(byte_width(out.type()), [&]<class T>() {
    T* to = out.mutable_data<T>();
    for (IndexWalker at(outer); !at.done(); at.next(), to += run) {
      const T *x = a.data<T>() + at.offset(sa), *y = b.data<T>() + at.offset(sb);
      const auto* m = mask.data<std::uint8_t>() + at.offset(sm);
      for (i64 i = 0; i < run; ++i) to[i] = m[i * step_m] != 0 ? x[i * step_a] : y[i * step_b];
    }
  });
}

constexpr TypeVar T{"T", kAnyType}, TCond{"T_COND", kBoolean};
constexpr PortDef kInputs[] = {{"cond", TCond}, {"then", T}, {"else", T}};
constexpr PortDef kOutput[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutput,
     .attrs = kBroadcastAttrs,
     .infer = infer,
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving},
};

}  // namespace

extern constinit const OpDef def{.type = "Select", .spec = "condition/select", .versions = kVersions};

}  // namespace ovir::ops::select
