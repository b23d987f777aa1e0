// OneHot: a new axis along which the element that an index names is on_value, all others off_value.
// Spec: operation-sets/operation-specs/sequence/one-hot-1, one-hot-16
#include "op/kit/line_attrs.hpp"
#include "op/op.hpp"

namespace ovir::ops::one_hot {
namespace {

using Negative = OneHotNegative;
using Attrs = OneHotAttrs;

enum Input { indices, depth, on_value, off_value };

void infer(InferContext& c) {
  for (int port : {depth, on_value, off_value}) c.require_rank(port, 0);
  Dim length;
  if (const auto known = c.require_at_least(depth, 0); known && known->size() == 1) {
    length = known->front().to_dim();
  }
  auto out = c.shape(indices);
  if (out.has_rank()) {
    const auto axis = c.require_axis(c.attrs<Attrs>().axis, -1, out.rank() + 1);
    out.dims().insert(out.dims().begin() + axis, length);
  }
  c.output(0, std::move(out));
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& at = c.in(indices);
  const auto index = c.ints(indices);
  const auto length = c.scalar_int(depth);
  const auto axis = a.axis < 0 ? a.axis + at.rank() + 1 : a.axis;
  auto shape = at.shape();
  shape.insert(shape.begin() + axis, length);
  auto& to = c.out(0, shape);
  const AxisView view(shape, axis);
  dispatch_width(byte_width(to.type()), [&]<class T>() {
    auto* target = to.mutable_data<T>();
    std::fill_n(target, to.size(), *c.in(off_value).data<T>());
    for (i64 i = 0; i < at.size(); ++i) {
      auto k = index[i];
      if (k < 0 && a.negative_indices_mode == Negative::normalized) k += length;
      if (0 <= k && k < length) target[view.line(i) + k * view.inner] = *c.in(on_value).data<T>();
    }
  });
}

constexpr TypeVar TIndex{"T_IND", kInteger}, TDepth{"T_DEPTH", kInteger}, T{"T", kAnyType};
constexpr PortDef kInputs[] = {
    {.name = "indices", .type = TIndex, .indexes = {.along = Indexes::Along::value, .at = depth}},
    {"depth", TDepth},
    {"on_value", T},
    {"off_value", T}};
constexpr PortDef kOutputs[] = {{"output", T}};
consteval Version version(int since, AttributeTable attrs) {
  return {.since = since,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = attrs,
          .infer = infer,
          .reads = ports(depth),
          .eval = eval,
          .lift = Lift::moves};
}
constexpr Version kVersions[] = {
    version(1, attributes<Attrs, Attr<"axis", &Attrs::axis, kRequired>>),
    version(16, attributes<Attrs, Attr<"axis", &Attrs::axis, kRequired>,
                           Attr<"negative_indices_mode", &Attrs::negative_indices_mode>>),
};

}  // namespace

extern constinit const OpDef def{.type = "OneHot", .spec = "sequence/one-hot", .versions = kVersions};

}  // namespace ovir::ops::one_hot
