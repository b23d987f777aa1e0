// StridedSlice: every stride-th element from begin to end of each axis; masks leave axes whole, add or drop axes.
// Spec: operation-sets/operation-specs/movement/strided-slice-1
#include "op/kit/strided_slicing.hpp"
#include "ops/movement/common.hpp"

namespace ovir::ops::strided_slice {
namespace {

using movement::IndexRange;
using movement::slice_dim;

enum Input { data, begin, end, stride };

using namespace strided_slicing;
using Attrs = StridedSliceAttrs;

constexpr IndexRange kFirst{0, 0}, kPastEnd{INT64_MAX, INT64_MAX}, kBeforeBegin{INT64_MIN, INT64_MIN};

/// "If the begin_mask[i] is set to one, the value of begin[i] is set to 0 (size(dim) - 1 if slicing in reverse)", and
/// end_mask[i] likewise selects all that is left in the direction of the stride.
IndexRange start_of(const Attrs& a, std::size_t i, i64 step, IndexRange given) {
  if (!is_set(a.begin_mask, i)) return given;
  return step > 0 ? kFirst : kPastEnd;
}
IndexRange stop_of(const Attrs& a, std::size_t i, i64 step, IndexRange given) {
  if (!is_set(a.end_mask, i)) return given;
  return step > 0 ? kPastEnd : kBeforeBegin;
}

void require_masks(const InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  const std::pair<std::string_view, const std::vector<i64>*> masks[] = {{"begin_mask", &a.begin_mask},
                                                                        {"end_mask", &a.end_mask},
                                                                        {"new_axis_mask", &a.new_axis_mask},
                                                                        {"shrink_axis_mask", &a.shrink_axis_mask},
                                                                        {"ellipsis_mask", &a.ellipsis_mask}};
  for (const auto& [mask_name, mask] : masks)
    c.require_each(
        *mask, [](i64 bit) { return bit == 0 || bit == 1; }, mask_name, "must hold 0 and 1, but holds {}");
  c.require_attr(std::count(a.ellipsis_mask.begin(), a.ellipsis_mask.end(), 1) <= 1, "ellipsis_mask",
                 "must have one bit set at most");
}

/// How many entries begin, end and stride have, where one of them tells.
std::optional<i64> entry_count(const InferContext& c) {
  Dim count;
  for (int port = begin; port < c.input_count(); ++port) {
    c.require_rank(port, 1);
    if (c.shape(port).has_rank())
      count = c.require_same_dim(count, c.shape(port)[0], port, "the number of elements of \"begin\"",
                                 fmt::format("that of \"{}\"", c.port_name(port)));
  }
  if (!count.is_static()) return std::nullopt;
  return count.length();
}

void infer(InferContext& c) {
  require_masks(c);
  const auto& a = c.attrs<Attrs>();
  const auto& shape = c.shape(data);
  const auto entries = entry_count(c);
  if (!entries || !shape.has_rank()) return c.output(0, PartialShape::unknown_rank());

  const auto steps = steps_of(a, shape.rank(), *entries);
  c.require(steps.has_value(), begin, Code::E0506,
            "input \"begin\" of StridedSlice has {} elements, which need more axes than \"data\" {} has", *entries,
            to_string(shape));
  const auto count = *entries;
  const auto begins = movement::ranges(c, begin).value_or(std::vector<IndexRange>(count));
  const auto ends = movement::ranges(c, end).value_or(std::vector<IndexRange>(count));
  const auto strides = c.has(stride) ? movement::ranges(c, stride).value_or(std::vector<IndexRange>(count))
                                     : std::vector<IndexRange>(count, IndexRange{1, 1});

  PartialShape out;
  for (const auto& [action, i, axis] : *steps) {
    if (action == Action::keep) out.push_back(shape[axis]);
    if (action == Action::new_axis) out.push_back(1);
    if (action == Action::shrink && (begins[i].is_known() || is_set(a.begin_mask, i))) {
      const auto& dim = shape[axis];
      const auto at = is_set(a.begin_mask, i) ? 0 : begins[i].lo;
      c.require(at < 0 ? !dim.is_bounded() || at >= -dim.max : at < dim.max, begin, Code::E0507,
                "element {0} of input \"begin\" of StridedSlice picks index {1}, but axis {2} has length {3}", i, at,
                axis, to_string(dim));
    }
    if (action != Action::slice) continue;
    c.require(!strides[i].is_known() || strides[i].lo != 0, stride, Code::E0508,
              "element {} of input \"stride\" of StridedSlice must not be 0", i);
    if (strides[i].lo > 0 || strides[i].hi < 0)
      out.push_back(slice_dim(shape[axis], start_of(a, i, strides[i].lo, begins[i]),
                              stop_of(a, i, strides[i].lo, ends[i]), strides[i]));
    else out.push_back(Dim(0, shape[axis].max));
  }
  c.output(0, std::move(out));
}

void eval(EvalContext& c) {
  const auto& from = c.in(data);
  const auto strides = c.has(stride) ? c.ints(stride) : std::span<const i64>();
  const auto part = part_of(c.attrs<Attrs>(), from.shape(), c.ints(begin), c.ints(end), strides, c.memory());
  gather_strided(from, part.first, part.walk, part.shape, c.out(0));
}

constexpr TypeVar T{"T", kAnyType}, TBegin{"T_IND", kInteger}, TEnd{"T_IND_END", kInteger},
    TStride{"T_IND_STRIDE", kInteger};
constexpr PortDef kInputs[] = {{"data", T}, {"begin", TBegin}, {"end", TEnd}, {"stride", TStride, Arity::optional}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs =
         attributes<Attrs, Attr<"begin_mask", &Attrs::begin_mask, kRequired>,
                    Attr<"end_mask", &Attrs::end_mask, kRequired>, Attr<"new_axis_mask", &Attrs::new_axis_mask>,
                    Attr<"shrink_axis_mask", &Attrs::shrink_axis_mask>, Attr<"ellipsis_mask", &Attrs::ellipsis_mask>>,
     .infer = infer,
     .reads = ports(begin, end, stride),
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving},
};

}  // namespace

extern constinit const OpDef def{.type = "StridedSlice", .spec = "movement/strided-slice", .versions = kVersions};

}  // namespace ovir::ops::strided_slice
