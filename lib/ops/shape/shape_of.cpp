// ShapeOf: the lengths of data as a vector.
// Spec: operation-sets/operation-specs/shape/shape-of-1, shape-of-3
#include "op/op.hpp"

namespace ovir::ops::shape_of {
namespace {

enum Input { data };

struct Attrs {
  ElementType output_type = ElementType::i64;
};

void infer(InferContext& c) {
  const auto type = c.attrs<Attrs>().output_type;
  c.require_index_type(type, "output_type");
  const auto& s = c.shape(data);
  if (!s.has_rank()) return c.output(0, type, {Dim()});
  c.output(0, type, {s.rank()});
  if (s.is_static()) return c.output_value(0, convert(Tensor::vector(s.to_shape()), type));
  std::vector<Interval> bounds;
  for (const auto& d : s) bounds.push_back(to_interval(d));
  c.output_bounds(0, std::move(bounds));
}

void eval(EvalContext& c) {
  const auto& shape = c.stored(data).shape();
  auto& out = c.out(0);
  dispatch(out.type(), Indices{}, [&]<class T>() {
    std::transform(shape.begin(), shape.end(), out.mutable_data<T>(), [](i64 n) { return static_cast<T>(n); });
  });
}

constexpr PortDef kInputs[] = {{"data", {"T"}}};
constexpr PortDef kOutputs[] = {{"output", {"T_OUT", kIndex}}};
consteval Version version(int since, AttributeTable attrs) {
  return {.since = since,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = attrs,
          .infer = infer,
          .shape_only = true,
          .eval = eval,
          .lift = Lift::moves};
}
constexpr Version kVersions[] = {
    version(1, attributes<Attrs>),
    version(3, attributes<Attrs, Attr<"output_type", &Attrs::output_type>>),
};

}  // namespace

extern constinit const OpDef def{.type = "ShapeOf", .spec = "shape/shape-of", .versions = kVersions};

}  // namespace ovir::ops::shape_of
