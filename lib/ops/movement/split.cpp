// Split: equal parts along an axis.
// Spec: operation-sets/operation-specs/movement/split-1
#include "ops/movement/common.hpp"

namespace ovir::ops::split {
namespace {

enum Input { data, axis };

struct Attrs {
  i64 num_splits = 0;
};

void infer(InferContext& c) {
  const auto n = c.attrs<Attrs>().num_splits;
  c.require_attr(n > 0, "num_splits", "must be positive, but is {}", n);
  c.require(c.output_count() <= n, -1, Code::E0501, "Split gives {}, but the layer declares {}", counted(n, "part"),
            counted(c.output_count(), "output"));
  c.require_rank(axis, 0, 1);
  c.require_single(axis);

  auto part = c.shape(data);
  if (const auto known = c.scalar_int(axis); !part.has_rank()) {
    // nothing to judge
  } else if (known) {
    auto& along = part[c.require_axis(*known, axis, part.rank())];
    const auto length = movement::divided(along, n);
    c.require(length.has_value(), data, Code::E0506,
              "Split cannot divide axis {1} of \"data\" {2} into {0} equal parts", n, *known, to_string(c.shape(data)));
    along = *length;
  } else {
    for (auto& d : part.dims()) d = Dim(0, d.max);
  }
  for (int port = 0; port < c.output_count(); ++port) c.output(port, c.type(data), part);
}

void eval(EvalContext& c) {
  const auto& from = c.in(data);
  const auto along = movement::normalized(c.scalar_int(axis), from.rank());
  const auto n = c.attrs<Attrs>().num_splits;
  const auto strides = strides_of(from.shape());
  auto part = from.shape();
  part[along] /= n;
  for (int port = 0; port < c.output_count(); ++port)
    gather_strided(from, port * part[along] * strides[along], strides, part, c.out(port, part));
}

constexpr TypeVar T{"T", kAnyType}, TAxis{"T_AXIS", kInteger};
constexpr PortDef kInputs[] = {{"data", T}, {"axis", TAxis}};
constexpr PortDef kOutputs[] = {{"output", T, Arity::variadic}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"num_splits", &Attrs::num_splits, kRequired>>,
     .infer = infer,
     .reads = ports(axis),
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving},
};

}  // namespace

extern constinit const OpDef def{.type = "Split", .spec = "movement/split", .versions = kVersions};

}  // namespace ovir::ops::split
