#include "op/kit/elementwise.hpp"

#include "op/kit/saturate.hpp"

namespace ovir {

void infer_unary(InferContext& c) { c.output(0, c.shape(0)); }

void infer_binary(InferContext& c) { c.output(0, broadcast_shape(c, 0, 1, c.attrs<BroadcastAttrs>().rule())); }

namespace {

/// "PDPD: First input tensor A is of any rank, second input B has rank smaller or equal to the first input … Input
/// tensor B is a continuous subsequence of input A … trailing dimensions of size 1 for input B will be ignored."
PartialShape pdpd_shape(const InferContext& c, int a, int b, i64 axis) {
  auto out = c.shape(a);
  auto fitted = c.shape(b);
  if (!out.has_rank() || !fitted.has_rank()) return out;
  c.require_attr(axis >= -1, "auto_broadcast.auto_broadcast_axis", "must be -1 or more, but is {}", axis);
  const auto first = axis == -1 ? out.rank() - fitted.rank() : axis;
  const auto refuse = [&] {
    c.fail_at(b, Code::E0505,
              fmt::format("{0} cannot broadcast \"{1}\" {2} to \"{3}\" {4} by the rule \"pdpd\": from axis {5} on, its "
                          "dims must be 1 or those of \"{6}\"",
                          c.op().type, c.port_name(b), to_string(c.shape(b)), c.port_name(a), to_string(c.shape(a)),
                          first, c.port_name(a)));
  };
  while (fitted.rank() > 0 && fitted[fitted.rank() - 1] == Dim(1)) fitted.dims().pop_back();
  if (first < 0 || first > out.rank() || fitted.rank() > out.rank() - first) refuse();
  for (i64 i = 0; i < fitted.rank(); ++i) {
    auto& to = out[first + i];
    if (fitted[i].contains(1)) {
      // Where b's length may be 1, a's may be anything.
      if (to.max < fitted[i].min) refuse();
      continue;
    }
    const auto both = intersect(to, fitted[i]);
    if (!both) refuse();
    to = *both;
  }
  return out;
}

}  // namespace

PartialShape broadcast_shape(const InferContext& c, int a, int b, BroadcastRule rule) {
  switch (rule.kind) {
    case AutoBroadcast::none: return c.require_same_shape(a, b);
    case AutoBroadcast::numpy: return c.require_broadcast(a, b);
    default: return pdpd_shape(c, a, b, rule.axis);
  }
}

void require_broadcast_into(const InferContext& c, int port, PartialShape& shape, bool strict) {
  const auto& from = c.shape(port);
  if (!shape.has_rank() || !from.has_rank()) return;
  const auto excess = from.rank() - shape.rank();
  bool fits = !strict || excess <= 0;
  for (i64 i = 0; i < from.rank() && fits; ++i) {
    if (from[i].contains(1)) continue;
    const auto both = i >= excess ? intersect(shape[i - excess], from[i]) : std::nullopt;
    fits = both.has_value();
    if (fits) shape[i - excess] = *both;
  }
  c.require(fits, port, Code::E0505, "{2} cannot broadcast \"{0}\" {1} to \"{4}\" {3}", c.port_name(port),
            to_string(from), c.op().type, to_string(c.shape(0)), c.port_name(0));
}

Tensor as_numpy_operand(const Tensor& b, i64 rank, BroadcastRule rule) {
  if (rule.kind != AutoBroadcast::pdpd) return b;
  auto shape = b.shape();
  const auto axis = rule.axis == -1 ? rank - b.rank() : rule.axis;
  while (!shape.empty() && shape.back() == 1) shape.pop_back();
  shape.resize(rank - axis, 1);
  return b.reshaped(std::move(shape));
}

Shape strides_into(const Shape& from, const Shape& to) {
  if (from.size() <= to.size()) return broadcast_strides(from, to);
  return broadcast_strides(Shape(from.end() - to.rank(), from.end()), to);
}

void round_into(const Tensor& floats, ElementType declared, Tensor& integers) {
  const auto* from = floats.data<double>();
  dispatch(integers.type(), Integers{}, [&]<class T>() {
    T* to = integers.mutable_data<T>();
    const auto low = lowest<T>(declared), high = highest<T>(declared);
    for (i64 i = 0; i < floats.size(); ++i) to[i] = saturated(std::round(from[i]), low, high);
  });
}

double largest_finite(ElementType t) {
  switch (t) {
    case ElementType::f64: return std::numeric_limits<double>::max();
    case ElementType::f32: return std::numeric_limits<float>::max();
    case ElementType::bf16: return 0x1.fep127;
    case ElementType::f8e8m0: return 0x1p127;
    case ElementType::f16: return 65504;
    case ElementType::f8e5m2: return 57344;
    case ElementType::f8e4m3: return 448;
    case ElementType::f4e2m1: return 6;
    default: return 1;  // nf4
  }
}

namespace {

bool is(Interval v, double n) { return v.lo == n && v.hi == n; }

/// inf - inf says nothing.
Interval interval(double lo, double hi, std::uint32_t symbol) {
  if (std::isnan(lo)) lo = -std::numeric_limits<double>::infinity();
  if (std::isnan(hi)) hi = std::numeric_limits<double>::infinity();
  return {lo, hi, symbol};
}

/// The symbol that stays where the other operand is the neutral element.
std::uint32_t kept_symbol(const Interval& a, const Interval& b, double neutral) {
  if (is(b, neutral)) return a.symbol;
  return is(a, neutral) ? b.symbol : 0;
}

/// The symbol of a result that is always `a`, or always `b`.
std::uint32_t symbol_of_either(const Interval& a, bool is_a, const Interval& b, bool is_b) {
  if (is_a || a.symbol == b.symbol) return a.symbol;
  return is_b ? b.symbol : 0;
}

}  // namespace

Interval operator+(Interval a, Interval b) { return interval(a.lo + b.lo, a.hi + b.hi, kept_symbol(a, b, 0)); }

Interval operator-(Interval a, Interval b) {
  if (a.symbol != 0 && a.symbol == b.symbol) return {0, 0};
  return interval(a.lo - b.hi, a.hi - b.lo, is(b, 0) ? a.symbol : 0);
}

Interval operator*(Interval a, Interval b) {
  const auto product = [](double x, double y) {
    return x == 0 || y == 0 ? 0 : x * y;
  };  // 0 * inf: a bound that is not reached
  const double all[] = {product(a.lo, b.lo), product(a.lo, b.hi), product(a.hi, b.lo), product(a.hi, b.hi)};
  const auto [min, max] = std::minmax_element(std::begin(all), std::end(all));
  return {*min, *max, kept_symbol(a, b, 1)};
}

Interval min(Interval a, Interval b) {
  return {std::min(a.lo, b.lo), std::min(a.hi, b.hi), symbol_of_either(a, a.hi <= b.lo, b, b.hi <= a.lo)};
}

Interval max(Interval a, Interval b) {
  return {std::max(a.lo, b.lo), std::max(a.hi, b.hi), symbol_of_either(a, a.lo >= b.hi, b, b.lo >= a.hi)};
}

}  // namespace ovir
