// NonZero: the indices of the elements that are not zero, one column each.
// Spec: operation-sets/operation-specs/condition/nonzero-3
#include "op/op.hpp"

namespace ovir::ops::non_zero {
namespace {

enum Input { data };

struct Attrs {
  ElementType output_type = ElementType::i64;
};

template <class Bits>
i64 count_non_zero(const Tensor& t, Bits sign) {
  i64 n = 0;
  for (i64 i = 0; i < t.size(); ++i) {
    Bits bits;
    std::memcpy(&bits, t.bytes() + i * sizeof bits, sizeof bits);
    n += (bits & static_cast<Bits>(~sign)) != 0 ? 1 : 0;
  }
  return n;
}

/// Of a tensor of any type of the signature, as it is stored: of floats -0 is zero, too.
i64 count_non_zero(const Tensor& t) {
  const bool real = contains(kFloat, t.type());
  switch (byte_width(t.type())) {
    case 1: return count_non_zero<std::uint8_t>(t, 0);
    case 2: return count_non_zero<std::uint16_t>(t, real ? 0x8000 : 0);
    case 4: return count_non_zero<std::uint32_t>(t, real ? 1u << 31 : 0);
    default: return count_non_zero<std::uint64_t>(t, real ? std::uint64_t{1} << 63 : 0);
  }
}

void infer(InferContext& c) {
  const auto type = c.attrs<Attrs>().output_type;
  c.require_index_type(type, "output_type");
  const auto& from = c.shape(data);
  // A scalar counts as a vector of one element.
  const auto rank = from.has_rank() ? Dim(std::max<i64>(from.rank(), 1)) : Dim();
  const auto* value = c.peek(data);
  c.output(0, type, {rank, value ? Dim(count_non_zero(value->unpacked())) : Dim(0, from.element_count().max)});
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
