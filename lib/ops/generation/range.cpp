// Range: start, start + step, … up to but without stop.
// Spec: operation-sets/operation-specs/generation/range-1, range-4
#include "op/op.hpp"

namespace ovir::ops::range {
namespace {

enum Input { start, stop, step };

struct Attrs {
  ElementType output_type = ElementType::dynamic;  ///< version 1 has none: the inputs' type
};

ElementType type_of(ElementType inputs, const Attrs& a) {
  return a.output_type == ElementType::dynamic ? inputs : a.output_type;
}

/// max(ceil((stop - start) / step), 0); exact for integers of any size.
i64 count_of(i64 first, i64 last, i64 by) {
  if (by > 0 ? first >= last : first <= last) return 0;
  const auto distance = by > 0 ? static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first)
                               : static_cast<std::uint64_t>(first) - static_cast<std::uint64_t>(last);
  const auto pace = by > 0 ? static_cast<std::uint64_t>(by) : 0 - static_cast<std::uint64_t>(by);
  const auto n = (distance - 1) / pace + 1;
  return n > static_cast<std::uint64_t>(INT64_MAX) ? INT64_MAX : static_cast<i64>(n);
}
i64 count_of(double first, double last, double by) {
  const auto n = std::ceil((last - first) / by);
  if (!(n > 0)) return 0;
  return n < 9.2e18 ? static_cast<i64>(n) : INT64_MAX;
}

void require_finite(const InferContext& c, int port) {
  if (const auto v = c.floats(port); v && v->size() == 1)
    c.require(std::isfinite(v->front()), port, Code::E0508, "input \"{}\" of Range must be finite, but is {}",
              c.port_name(port), v->front());
}

/// The number of elements where not all inputs are known: from the ends of their intervals, for integers.
Dim bounded_count(const InferContext& c) {
  const auto first = c.intervals(start), last = c.intervals(stop), by = c.intervals(step);
  if (!first || !last || !by || first->size() != 1 || last->size() != 1 || by->size() != 1) return Dim();
  const auto &a = first->front(), &b = last->front(), &s = by->front();
  if (a.is_known() && a.lo == 0 && s.is_known() && s.lo == 1 && b.lo >= 0) return b.to_dim();
  if (!s.is_known() || s.lo == 0) return Dim();
  const bool up = s.lo > 0;
  const auto min = up ? count_of(a.hi, b.lo, s.lo) : count_of(a.lo, b.hi, s.lo);
  const auto max = up ? count_of(a.lo, b.hi, s.lo) : count_of(a.hi, b.lo, s.lo);
  return Dim(std::isfinite(up ? a.hi : a.lo) && std::isfinite(up ? b.lo : b.hi) ? min : 0,
             max == INT64_MAX ? Dim::kUnbounded : max);
}

/// Whether integers alone are involved: then nothing is rounded.
bool whole(ElementType out, std::initializer_list<ElementType> in) {
  return contains(kInteger, out) &&
         std::all_of(in.begin(), in.end(), [](ElementType t) { return contains(kInteger, t); });
}

void infer(InferContext& c) {
  const auto type = type_of(c.type(start), c.attrs<Attrs>());
  c.require_attr(type == ElementType::dynamic || contains(kFloat | kInteger, type), "output_type",
                 "must be a numeric type, but is {}", name(type));
  for (int port : {start, stop, step}) {
    c.require_rank(port, 0);
    require_finite(c, port);
  }
  if (const auto by = c.floats(step); by && by->size() == 1)
    c.require(by->front() != 0, step, Code::E0508, "input \"step\" of Range must not be 0");

  if (whole(type, {c.type(start), c.type(stop), c.type(step)})) {
    const auto first = c.scalar_int(start), last = c.scalar_int(stop), by = c.scalar_int(step);
    return c.output(0, type, {first && last && by ? Dim(count_of(*first, *last, *by)) : bounded_count(c)});
  }
  const auto first = c.floats(start), last = c.floats(stop), by = c.floats(step);
  const bool known = first && last && by && first->size() == 1 && last->size() == 1 && by->size() == 1;
  c.output(0, type, {known ? Dim(count_of(first->front(), last->front(), by->front())) : Dim()});
}

void eval(EvalContext& c) {
  const auto type = c.declared_out_type(0);
  if (whole(type, {c.stored(start).type(), c.stored(stop).type(), c.stored(step).type()})) {
    const auto first = c.scalar_int(start), by = c.scalar_int(step);
    auto& to = c.out(0);
    dispatch(to.type(), Integers{}, [&]<class T>() {
      auto next = static_cast<std::uint64_t>(first);
      for (auto& value : to.mutable_values<T>()) {
        value = static_cast<T>(next);
        next += static_cast<std::uint64_t>(by);
      }
    });
    return;
  }
  // "accumulate_type is a type that have better or equal accuracy": f64 for all.
  const auto first = c.floats(start).at(0), by = c.floats(step).at(0);
  auto& to = c.out(0);
  dispatch(to.type(), Numbers{}, [&]<class T>() {
    for (i64 i = 0; i < to.size(); ++i) {
      const auto value = first + static_cast<double>(i) * by;
      to.mutable_data<T>()[i] = static_cast<T>(std::is_integral_v<T> ? std::nearbyint(value) : value);
    }
  });
}

constexpr TypeSet kNumbers = kFloat | kInteger;
constexpr TypeVar T{"T", kNumbers}, T1{"T1", kNumbers}, T2{"T2", kNumbers}, T3{"T3", kNumbers}, TOut{"T_OUT", kNumbers};
constexpr PortDef kInputs1[] = {{"start", T}, {"stop", T}, {"step", T}};
constexpr PortDef kOutputs1[] = {{"output", T}};
constexpr PortDef kInputs4[] = {{"start", T1}, {"stop", T2}, {"step", T3}};
constexpr PortDef kOutputs4[] = {{"output", TOut}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs1,
     .outputs = kOutputs1,
     .attrs = attributes<Attrs>,
     .infer = infer,
     .reads = ports(start, stop, step),
     .eval = eval},
    {.since = 4,
     .inputs = kInputs4,
     .outputs = kOutputs4,
     .attrs = attributes<Attrs, Attr<"output_type", &Attrs::output_type, kRequired>>,
     .infer = infer,
     .reads = ports(start, stop, step),
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "Range", .spec = "generation/range", .versions = kVersions};

}  // namespace ovir::ops::range
