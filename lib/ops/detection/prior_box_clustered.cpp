// PriorBoxClustered: boxes of the given widths and heights around each point of a grid, relative to the image.
// Spec: operation-sets/operation-specs/detection/prior-box-clustered-1
#include "ops/detection/common.hpp"

namespace ovir::ops::prior_box_clustered {
namespace {

enum Input { output_size, image_size };

struct Attrs {
  std::vector<float> width{1}, height{1}, variance;
  bool clip = true;
  float step = 0, step_w = 0, step_h = 0, offset = 0;
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_attr(a.width.size() == a.height.size(), "height",
                 "must hold as many numbers as \"width\" ({1}), but holds {0}", counted(a.height.size(), "number"),
                 a.width.size());
  detection::require_variance(c, a.variance);
  detection::require_grid(c);
  detection::output_priors(c, a.width.size());
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto grid = c.ints(output_size), image = c.ints(image_size);
  const auto H = grid[0], W = grid[1];
  const auto image_height = static_cast<float>(image[0]), image_width = static_cast<float>(image[1]);
  // A step for each direction, else the common one, else the image divided by the grid.
  auto step_x = a.step_w, step_y = a.step_h;
  if (step_x == 0 && step_y == 0) step_x = step_y = a.step;
  if (step_x == 0 && step_y == 0) {
    step_x = image_width / static_cast<float>(W);
    step_y = image_height / static_cast<float>(H);
  }
  auto& out = c.out(0);
  if (out.size() == 0) return;
  auto* to = out.mutable_data<float>();
  for (i64 h = 0; h < H; ++h)
    for (i64 w = 0; w < W; ++w)
      for (std::size_t s = 0; s < a.width.size(); ++s) {
        const auto x = (static_cast<float>(w) + a.offset) * step_x, y = (static_cast<float>(h) + a.offset) * step_y;
        for (const auto corner : {(x - a.width[s] / 2) / image_width, (y - a.height[s] / 2) / image_height,
                                  (x + a.width[s] / 2) / image_width, (y + a.height[s] / 2) / image_height})
          *to++ = a.clip ? std::clamp(corner, 0.0f, 1.0f) : corner;
      }
  detection::put_variances(out, a.variance);
}

using A = Attrs;
constexpr TypeVar TOutputSize{"T_INT", kInteger}, TImageSize{"T_INT2", kInteger},
    TOut{"T_OUT", set_of(ElementType::f32)};
constexpr PortDef kInputs[] = {{"output_size", TOutputSize}, {"image_size", TImageSize}};
constexpr PortDef kOutputs[] = {{"output", TOut}};
constexpr auto kAttrs = attributes<A, Attr<"width", &A::width>, Attr<"height", &A::height>, Attr<"clip", &A::clip>,
                                   Attr<"step", &A::step>, Attr<"step_w", &A::step_w>, Attr<"step_h", &A::step_h>,
                                   Attr<"offset", &A::offset, kRequired>, Attr<"variance", &A::variance>>;
constexpr Version kVersions[] = {{.since = 1,
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .reads = ports(output_size),
                                  .eval = eval}};

}  // namespace

extern constinit const OpDef def{
    .type = "PriorBoxClustered", .spec = "detection/prior-box-clustered", .versions = kVersions};

}  // namespace ovir::ops::prior_box_clustered
