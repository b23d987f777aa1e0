// NonZero: the indices of the elements that are not zero, one column each.
// Spec: operation-sets/operation-specs/condition/nonzero-3
#include "op/op.hpp"

namespace ovir::ops::non_zero {
namespace {

enum Input { data };

struct Attrs {
  ElementType output_type = ElementType::i64;
};

void infer(InferContext& c) {
  const auto type = c.attrs<Attrs>().output_type;
  c.require_attr(contains(kIndex, type), "output_type", "\"{}\" is neither i64 nor i32", name(type));
  const auto& from = c.shape(data);
  // A scalar counts as a vector of one element.
  const auto rank = from.has_rank() ? Dim(std::max<i64>(from.rank(), 1)) : Dim();
  c.output(0, type, {rank, Dim(0, from.element_count().max)});
}

void eval(EvalContext& c) {
  const auto& from = c.in(data);
  std::vector<i64> found;
  dispatch(from.type(), Numbers{} + Boolean{}, [&]<class T>() {
    for (i64 i = 0; i < from.size(); ++i)
      if (from.data<T>()[i] != T{}) found.push_back(i);
  });
  const auto shape = from.rank() == 0 ? Shape{1} : from.shape();
  const auto strides = strides_of(shape);
  auto& to = c.out(0, {shape.rank(), std::ssize(found)});
  dispatch(to.type(), Indices{}, [&]<class T>() {
    auto* target = to.mutable_data<T>();
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      for (const auto i : found) *target++ = static_cast<T>(i / strides[axis] % shape[axis]);
  });
}

constexpr PortDef kInputs[] = {{"data", {"T", kFloat | kInteger | kBoolean}}};
constexpr PortDef kOutputs[] = {{"output", {"T_OUT", kIndex}}};
constexpr Version kVersions[] = {
    {.since = 3,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"output_type", &Attrs::output_type>>,
     .infer = infer,
     .sized_by_data = true,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "NonZero", .spec = "condition/nonzero", .versions = kVersions};

}  // namespace ovir::ops::non_zero
