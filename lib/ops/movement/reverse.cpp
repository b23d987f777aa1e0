// Reverse: data back to front along the given axes.
// Spec: operation-sets/operation-specs/movement/reverse-1
#include "ops/movement/common.hpp"

namespace ovir::ops::reverse {
namespace {

enum class Mode { index, mask };
constexpr auto words(Mode) { return std::to_array<Word<Mode>>({{"index", Mode::index}, {"mask", Mode::mask}}); }

enum Input { data, axis };

struct Attrs {
  Mode mode = Mode::index;
};

void infer(InferContext& c) {
  const bool mask = c.attrs<Attrs>().mode == Mode::mask;
  const auto& from = c.shape(data);
  c.require_rank(axis, 1);
  const auto type = c.type(axis);
  c.require(type == ElementType::dynamic || mask == (type == ElementType::boolean), axis, Code::E0502,
            "input \"axis\" of Reverse must be {2} in mode \"{1}\", but is {0}", name(type), mask ? "mask" : "index",
            mask ? "boolean" : "an integer");
  if (from.has_rank()) {
    if (mask)
      c.require_same_dim(from.rank(), axis_count(c.shape(axis)), axis, "the rank of \"data\"",
                         "the number of elements of \"axis\"");
    else
      c.require(axis_count(c.shape(axis)).min <= from.rank(), axis, Code::E0506,
                "input \"axis\" of Reverse must not name more axes than \"data\" {} has", to_string(from));
    if (const auto known = c.ints(axis); known && !mask)
      for (const auto a : *known) c.require_axis(a, axis, from.rank());
  }
  c.output(0, from);
}

void eval(EvalContext& c) {
  const auto& from = c.in(data);
  const auto given = c.ints(axis);
  const bool mask = c.attrs<Attrs>().mode == Mode::mask;
  auto strides = strides_of(from.shape());
  std::vector<bool> reversed(from.rank(), false);
  for (i64 i = 0; i < std::ssize(given); ++i) {
    const auto named = mask ? i : given[i];
    if (!mask || given[i] != 0) reversed[movement::normalized(named, from.rank())] = true;
  }
  // From the last element of a reversed axis, backwards.
  i64 first = 0;
  for (i64 i = 0; i < from.rank(); ++i) {
    if (!reversed[i]) continue;
    first += (from.dim(i) - 1) * strides[i];
    strides[i] = -strides[i];
  }
  gather_strided(from, first, strides, from.shape(), c.out(0));
}

constexpr TypeVar T{"T", kAnyType}, TAxis{"T_AXIS", kInteger | kBoolean};
constexpr PortDef kInputs[] = {{"data", T}, {"axis", TAxis}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 1,
     .until = 3,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"mode", &Attrs::mode, kRequired>>,
     .infer = infer,
     .reads = ports(axis),
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving},
};

}  // namespace

extern constinit const OpDef def{.type = "Reverse", .spec = "movement/reverse", .versions = kVersions};

}  // namespace ovir::ops::reverse
