// Pad: elements added at (or, with negative pads, taken from) both ends of every axis.
// Spec: operation-sets/operation-specs/movement/pad-1, pad-12
#include "op/shared_attrs.hpp"
#include "ops/movement/common.hpp"

namespace ovir::ops::pad {
namespace {

using Mode = PadMode;
using Attrs = PadAttrs;

enum Input { data, pads_begin, pads_end, pad_value };

constexpr auto kMin = std::numeric_limits<i64>::min(), kMax = std::numeric_limits<i64>::max();

/// How much of an axis a mode may add at either end: reflect does not repeat the edge, symmetric does; edge needs one.
i64 max_added(Mode mode, i64 length) {
  if (mode == Mode::reflect) return std::max<i64>(length - 1, 0);
  if (mode == Mode::symmetric) return length;
  return mode == Mode::edge && length == 0 ? 0 : kMax;
}

void require_pads(const InferContext& c, int port) {
  const auto pads = c.ints(port);
  const auto mode = c.attrs<Attrs>().pad_mode;
  if (!pads || !c.shape(data).has_rank()) return;
  for (i64 i = 0; i < std::ssize(*pads); ++i) {
    const auto& d = c.shape(data)[i];
    c.require(
        !d.is_bounded() || (*pads)[i] <= max_added(mode, d.max), port, Code::E0508,
        "element {1} of input \"{0}\" of Pad must be {3} or less in this pad_mode for axis {1} of {4}, but is {2}",
        c.port_name(port), i, (*pads)[i], max_added(mode, d.max), to_string(c.shape(data)));
  }
}

/// "max(pads_begin[D] + data.shape[D] + pads_end[D], 0)"
Dim padded(const Dim& d, const movement::IndexRange& before, const movement::IndexRange& after) {
  if (before.is_known() && after.is_known() && before.lo == 0 && after.lo == 0) return d;
  const auto sum = [](i64 a, i64 b) { return checked_add(a, b).value_or(b < 0 ? kMin : kMax); };
  const auto low = before.lo == kMin || after.lo == kMin ? kMin : sum(d.min, sum(before.lo, after.lo));
  const auto high =
      !d.is_bounded() || before.hi == kMax || after.hi == kMax ? Dim::kUnbounded : sum(d.max, sum(before.hi, after.hi));
  return Dim(std::clamp<i64>(low, 0, kMax - 1), std::max<i64>(high, 0));
}

void infer(InferContext& c) {
  const auto& from = c.shape(data);
  Dim count = from.has_rank() ? Dim(from.rank()) : Dim();
  for (int port : {pads_begin, pads_end}) {
    c.require_rank(port, 1);
    count = c.require_same_dim(count, axis_count(c.shape(port)), port, "the rank of \"data\"",
                               fmt::format("the number of elements of \"{}\"", c.port_name(port)));
  }
  c.require_rank(pad_value, 0);
  c.require_attr(c.type(data) != ElementType::string || c.attrs<Attrs>().pad_mode == Mode::constant, "pad_mode",
                 "must be \"constant\" where \"data\" holds strings");
  require_pads(c, pads_begin);
  require_pads(c, pads_end);
  if (!from.has_rank()) return c.output(0, shape_of_rank(count));

  const auto before = movement::ranges(c, pads_begin), after = movement::ranges(c, pads_end);
  PartialShape out;
  for (i64 i = 0; i < from.rank(); ++i) {
    out.push_back(
        padded(from[i], before ? (*before)[i] : movement::IndexRange(), after ? (*after)[i] : movement::IndexRange()));
  }
  c.output(0, std::move(out));
}

/// For every position along an output axis, the position in data that it is copied from; -1: none, the pad value.
std::pmr::vector<i64> sources(EvalContext& c, i64 length, i64 before, i64 count) {
  std::pmr::vector<i64> from(c.memory());
  from.reserve(count);
  for (i64 i = 0; i < count; ++i) {
    auto at = i - before;
    if (at < 0 || at >= length) {
      switch (c.attrs<Attrs>().pad_mode) {
        case Mode::constant: at = -1; break;
        case Mode::edge: at = std::clamp<i64>(at, 0, length - 1); break;
        case Mode::reflect: at = at < 0 ? -at : 2 * (length - 1) - at; break;
        case Mode::symmetric: at = at < 0 ? -at - 1 : 2 * length - 1 - at; break;
      }
    }
    from.push_back(at);
  }
  return from;
}

void eval(EvalContext& c) {
  const auto mode = c.attrs<Attrs>().pad_mode;
  const auto& from = c.in(data);
  const auto before = c.ints(pads_begin);
  auto& to = c.out(0);
  if (to.size() == 0) return;
  const auto& shape = to.shape();
  std::pmr::vector<std::pmr::vector<i64>> axes(c.memory());
  for (std::size_t i = 0; i < shape.size(); ++i) axes.push_back(sources(c, from.shape()[i], before[i], shape[i]));

  const auto strides = strides_of(from.shape());
  const bool innermost = !axes.empty();
  const Shape outer(shape.begin(), shape.end() - (innermost ? 1 : 0));
  dispatch_width(byte_width(from.type()), [&]<class Element>() {
    auto value = movement::zero_of<Element>(from.type());
    if (mode == Mode::constant && c.has(pad_value)) value = *c.in(pad_value).data<Element>();
    const auto* source = from.data<Element>();
    auto* target = to.mutable_data<Element>();
    if (!innermost) return void(*target = *source);
    for (IndexWalker at(outer); !at.done(); at.next()) {
      i64 row = 0;
      bool outside = false;
      for (std::size_t i = 0; i < outer.size(); ++i) {
        const auto position = axes[i][at[i]];
        outside = outside || position < 0;
        row += position * strides[i];
      }
      for (const auto position : axes.back()) *target++ = outside || position < 0 ? value : source[row + position];
    }
  });
}

constexpr TypeVar T{"T", kAnyType}, TBegin{"T_INT", kInteger}, TEnd{"T_INT_END", kInteger};
constexpr PortDef kInputs[] = {
    {"data", T}, {"pads_begin", TBegin}, {"pads_end", TEnd}, {"pad_value", T, Arity::optional}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr auto kAttrs = attributes<Attrs, Attr<"pad_mode", &Attrs::pad_mode, kRequired>>;

consteval Version version(int since) {
  return {.since = since,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = kAttrs,
          .infer = infer,
          .reads = ports(pads_begin, pads_end),
          .eval = eval,
          .lift = Lift::moves};
}
constexpr Version kVersions[] = {
    version(1),
    version(12),
};

}  // namespace

extern constinit const OpDef def{.type = "Pad", .spec = "movement/pad", .versions = kVersions};

}  // namespace ovir::ops::pad
