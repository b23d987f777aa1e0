// ExperimentalDetectronPriorGridGenerator: priors repeated around every cell of a grid.
// Spec: operation-sets/operation-specs/detection/experimental-detectron-prior-grid-generator-6
#include "op/op.hpp"

namespace ovir::ops::experimental_detectron_prior_grid_generator {
namespace {

enum Input { priors, feature_map, im_data };

struct Attrs {
  bool flatten = true;
  i64 h = 0, w = 0;
  float stride_x = 0, stride_y = 0;
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_attr(0 <= a.h && a.h < (1 << 24), "h", "must be in 0..{1}, but is {0}", a.h, (1 << 24) - 1);
  c.require_attr(0 <= a.w && a.w < (1 << 24), "w", "must be in 0..{1}, but is {0}", a.w, (1 << 24) - 1);
  c.require_attr(a.stride_x >= 0, "stride_x", "must not be negative, but is {}", a.stride_x);
  c.require_attr(a.stride_y >= 0, "stride_y", "must not be negative, but is {}", a.stride_y);
  c.require_rank(priors, 2);
  c.require_rank(feature_map, 4);
  c.require_rank(im_data, 4);
  Dim count, height, width;
  if (const auto& shape = c.shape(priors); shape.has_rank()) {
    c.require(shape[1].contains(4), priors, Code::E0506,
              "input \"priors\" of ExperimentalDetectronPriorGridGenerator must have 4 columns, but its shape is {}",
              to_string(shape));
    count = shape[0];
  }
  if (const auto& shape = c.shape(feature_map); shape.has_rank()) {
    height = shape[2];
    width = shape[3];
    if (c.shape(im_data).has_rank())
      c.require_same_dim(shape[0], c.shape(im_data)[0], im_data, "the batch of \"feature_map\"", "that of \"im_data\"");
  }
  c.require_attr(a.h <= height.max, "h", "must not be more than the height of \"feature_map\" ({1}), but is {0}", a.h,
                 to_string(height));
  c.require_attr(a.w <= width.max, "w", "must not be more than the width of \"feature_map\" ({1}), but is {0}", a.w,
                 to_string(width));
  c.output(0, a.flatten ? PartialShape{height * width * count, Dim(4)} : PartialShape{height, width, count, Dim(4)});
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& from = c.in(priors);
  const auto count = from.dim(0), height = a.h > 0 ? a.h : c.in(feature_map).dim(2),
             width = a.w > 0 ? a.w : c.in(feature_map).dim(3);
  const float step_y =
      a.stride_y > 0 ? a.stride_y : static_cast<float>(c.in(im_data).dim(2)) / static_cast<float>(height);
  const float step_x =
      a.stride_x > 0 ? a.stride_x : static_cast<float>(c.in(im_data).dim(3)) / static_cast<float>(width);
  // "the output data size is less than featmap_height * featmap_width * number_of_priors * 4": the shape is the whole
  // map's all the same.
  auto& out = c.out(0);
  dispatch(out.type(), Floats{}, [&]<class T>() {
    T* to = out.mutable_data<T>();
    std::fill_n(to, out.size(), T(0));
    for (i64 h = 0; h < height; ++h)
      for (i64 w = 0; w < width; ++w)
        for (i64 i = 0; i < count * 4; ++i) {
          const float center =
              i % 2 == 0 ? step_x * (static_cast<float>(w) + 0.5F) : step_y * (static_cast<float>(h) + 0.5F);
          *to++ = from.data<T>()[i] + static_cast<T>(center);
        }
  });
}

constexpr TypeVar T{"T", kFloat};
constexpr PortDef kInputs[] = {{"priors", T}, {"feature_map", T}, {"im_data", T}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 6,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"flatten", &Attrs::flatten>, Attr<"h", &Attrs::h>, Attr<"w", &Attrs::w>,
                         Attr<"stride_x", &Attrs::stride_x>, Attr<"stride_y", &Attrs::stride_y>>,
     .infer = infer,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "ExperimentalDetectronPriorGridGenerator",
                                 .spec = "detection/experimental-detectron-prior-grid-generator",
                                 .versions = kVersions};

}  // namespace ovir::ops::experimental_detectron_prior_grid_generator
