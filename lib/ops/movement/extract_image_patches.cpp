// ExtractImagePatches: sliding windows of an image, stacked in the channels.
// Spec: operation-sets/operation-specs/movement/extract-image-patches-3
#include "op/kit/extract_image_patches_attrs.hpp"
#include "ops/movement/common.hpp"

namespace ovir::ops::extract_image_patches {
namespace {

enum Input { data };

using Attrs = ExtractImagePatchesAttrs;

i64 patch_count(const Attrs& a, std::size_t axis, i64 length) {
  if (a.auto_pad != PatchPad::valid) return (length + a.strides[axis] - 1) / a.strides[axis];
  return length < a.extent(axis) ? 0 : (length - a.extent(axis)) / a.strides[axis] + 1;
}

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  const std::pair<std::string_view, const std::vector<i64>*> pairs[] = {
      {"sizes", &a.sizes}, {"strides", &a.strides}, {"rates", &a.rates}};
  for (const auto& [attribute, pair] : pairs) {
    c.require_attr(pair->size() == 2, attribute, "must hold 2 numbers, one for each axis of the image, but holds {}",
                   counted(pair->size(), "number"));
    c.require_each(
        *pair, [](i64 v) { return v > 0 && v < (i64{1} << 30); }, attribute,
        "must hold numbers in 1..{1}, but holds {0}", (1 << 30) - 1);
  }
  c.require_rank(data, 4);
  const auto& from = c.shape(data);
  auto out = PartialShape::of_rank(4);
  if (from.has_rank()) {
    out[0] = from[0];
    out[1] = from[1] * Dim(a.sizes[0] * a.sizes[1]);
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& d = from[i + 2];
      out[i + 2] = Dim(patch_count(a, i, d.min), d.is_bounded() ? patch_count(a, i, d.max) : Dim::kUnbounded);
    }
  }
  c.output(0, std::move(out));
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& from = c.in(data);
  auto& to = c.out(0);
  if (to.size() == 0) return;
  const auto channels = from.dim(1);
  const i64 before[] = {a.before(0, from.dim(2), to.dim(2)), a.before(1, from.dim(3), to.dim(3))};
  dispatch_width(byte_width(from.type()), [&]<class T>() {
    auto* target = to.mutable_data<T>();
    const auto zero = movement::zero_of<T>(from.type());
    // The depth of the output runs over rows and columns of the patch, then channels.
    for (IndexWalker at({from.dim(0), a.sizes[0], a.sizes[1], channels, to.dim(2)}); !at.done(); at.next()) {
      const auto y = at[4] * a.strides[0] + at[1] * a.rates[0] - before[0];
      const auto* plane = from.data<T>() + (at[0] * channels + at[3]) * from.dim(2) * from.dim(3);
      for (i64 q = 0; q < to.dim(3); ++q) {
        const auto x = q * a.strides[1] + at[2] * a.rates[1] - before[1];
        const bool inside = 0 <= y && y < from.dim(2) && 0 <= x && x < from.dim(3);
        *target++ = inside ? plane[y * from.dim(3) + x] : zero;
      }
    }
  });
}

constexpr TypeVar T{"T", kAnyType};
constexpr PortDef kInputs[] = {{"data", T}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 3,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"sizes", &Attrs::sizes, kRequired>, Attr<"strides", &Attrs::strides, kRequired>,
                         Attr<"rates", &Attrs::rates, kRequired>, Attr<"auto_pad", &Attrs::auto_pad, kRequired>>,
     .infer = infer,
     .eval = eval},  // padding is zero, which is not the byte 0 in every narrow type: elements are lifted
};

}  // namespace

extern constinit const OpDef def{
    .type = "ExtractImagePatches", .spec = "movement/extract-image-patches", .versions = kVersions};

}  // namespace ovir::ops::extract_image_patches
