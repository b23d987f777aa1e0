#include "op/bounds.hpp"

#include "base/half.hpp"
#include "op/eval_context.hpp"
#include "tensor/walk.hpp"

namespace ovir {
namespace {

/// One f64 tensor of an input's lower bounds, upper bounds or symbols.
template <class Pick>
Tensor plane(const Shape& shape, const std::vector<Interval>& intervals, Pick pick) {
  Tensor t(ElementType::f64, shape);
  for (std::size_t i = 0; i < intervals.size(); ++i) t.mutable_data<double>()[i] = pick(intervals[i]);
  return t;
}

bool is_data(const InferContext& c, int port) {
  const auto ins = c.version().inputs, outs = c.version().outputs;
  const auto& def = ins[std::min<i64>(port, std::ssize(ins) - 1)];
  return !outs.empty() && def.type.name == outs.front().type.name;
}

}  // namespace

void bounds_by_moving(InferContext& c) {
  std::vector<Tensor> low, high, symbol;
  for (int i = 0; i < c.input_count(); ++i) {
    if (!is_data(c, i)) {
      const auto* value = c.known(i);
      if (!value) return;
      for (auto* list : {&low, &high, &symbol}) list->push_back(*value);
      continue;
    }
    const auto intervals = c.intervals(i);
    if (!intervals || !c.shape(i).is_static()) return;
    const auto shape = c.shape(i).to_shape();
    if (std::ssize(*intervals) != shape.count()) return;
    low.push_back(plane(shape, *intervals, [](const Interval& v) { return v.lo; }));
    high.push_back(plane(shape, *intervals, [](const Interval& v) { return v.hi; }));
    symbol.push_back(plane(shape, *intervals, [](const Interval& v) { return static_cast<double>(v.symbol); }));
  }
  auto outputs = c.outputs();
  for (auto& o : outputs) o.type = ElementType::f64;
  const auto run = [&](const std::vector<Tensor>& inputs) {
    EvalContext e(c.version(), c.raw_attrs(), inputs, outputs);
    c.version().eval(e);
    return e.finish();
  };
  const auto l = run(low), h = run(high), s = run(symbol);
  for (int o = 0; o < std::ssize(l); ++o) {
    std::vector<Interval> bounds;
    for (i64 i = 0; i < l[o].size(); ++i)
      bounds.push_back(
          {l[o].data<double>()[i], h[o].data<double>()[i], static_cast<std::uint32_t>(s[o].data<double>()[i])});
    c.output_bounds(o, std::move(bounds));
  }
}

namespace {

/// What the kernel will round to the element type of output 0 is rounded here: rounding is monotone.
Interval rounded(const InferContext& c, Interval v) {
  const auto round = [&](double x) {
    switch (const auto f = static_cast<float>(x); c.out(0).type) {
      case ElementType::f32: return static_cast<double>(f);
      case ElementType::f16: return static_cast<double>(static_cast<float>(f16(f)));
      case ElementType::bf16: return static_cast<double>(static_cast<float>(bf16(f)));
      default: return x;
    }
  };
  return {round(v.lo), round(v.hi), v.symbol};
}

}  // namespace

void bounds_elementwise(InferContext& c, Interval (*f)(Interval, Interval)) {
  const auto a = c.intervals(0), b = c.intervals(1);
  if (!a || !b || !c.shape(0).is_static() || !c.shape(1).is_static() || !c.out(0).shape.is_static()) return;
  const auto shape = c.out(0).shape.to_shape();
  const auto sa = broadcast_strides(c.shape(0).to_shape(), shape), sb = broadcast_strides(c.shape(1).to_shape(), shape);
  std::vector<Interval> bounds;
  for (IndexWalker at(shape); !at.done(); at.next())
    bounds.push_back(rounded(c, f((*a)[at.offset(sa)], (*b)[at.offset(sb)])));
  c.output_bounds(0, std::move(bounds));
}

void bounds_elementwise(InferContext& c, Interval (*f)(Interval)) {
  const auto a = c.intervals(0);
  if (!a) return;
  std::vector<Interval> bounds;
  for (const auto& v : *a) bounds.push_back(rounded(c, f(v)));
  c.output_bounds(0, std::move(bounds));
}

}  // namespace ovir
