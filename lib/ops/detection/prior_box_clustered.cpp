// PriorBoxClustered: boxes of given widths and heights around every point of a grid.
// Spec: operation-sets/operation-specs/detection/prior-box-clustered-1
#include "ops/detection/common.hpp"

namespace ovir::ops::prior_box_clustered {
namespace {

enum Input { output_size, image_size };

struct Attrs {
  std::vector<float> width{1.0F}, height{1.0F}, variance;
  bool clip = true;
  float step = 0, step_w = 0, step_h = 0, offset = 0;
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_attr(a.width.size() == a.height.size(), "height", "there are {} widths, but {} heights", a.width.size(), a.height.size());
  detection::infer_priors(c, static_cast<std::int64_t>(a.width.size()), a.variance);
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto grid = c.ints(output_size), image = c.ints(image_size);
  const auto height = static_cast<float>(image.at(0)), width = static_cast<float>(image.at(1));
  // "If both step_h and step_w are 0 then they are updated with value of step. If after that they are still 0 then
  // they are calculated as input image width(height) divided with first input width(height)."
  float step_w = a.step_w == 0 ? a.step : a.step_w, step_h = a.step_h == 0 ? a.step : a.step_h;
  if (step_w == 0 && step_h == 0) {
    step_w = width / static_cast<float>(grid.at(1));
    step_h = height / static_cast<float>(grid.at(0));
  }
  auto& out = c.out(0, Shape{2, c.out_shape(0)[1].is_static() ? c.out_shape(0)[1].length() : element_count({grid.at(0), grid.at(1), static_cast<std::int64_t>(a.width.size()), 4})});
  auto* to = out.mutable_data<float>();
  const auto put = [&](float v) { *to++ = a.clip ? std::clamp(v, 0.0F, 1.0F) : v; };
  for (std::int64_t h = 0; h < grid[0]; ++h)
    for (std::int64_t w = 0; w < grid[1]; ++w) {
      const float x = (static_cast<float>(w) + a.offset) * step_w, y = (static_cast<float>(h) + a.offset) * step_h;
      for (std::size_t s = 0; s < a.width.size(); ++s) {
        put((x - a.width[s] / 2) / width);
        put((y - a.height[s] / 2) / height);
        put((x + a.width[s] / 2) / width);
        put((y + a.height[s] / 2) / height);
      }
    }
  detection::fill_variances(out, a.variance);
}

constexpr TypeVar TInt{"T_INT", kInteger}, TOut{"T_OUT", set_of(ElementType::f32)};
constexpr PortDef kInputs[] = {{"output_size", TInt}, {"image_size", TInt}};
constexpr PortDef kOutputs[] = {{"output", TOut}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"width", &Attrs::width>, Attr<"height", &Attrs::height>, Attr<"clip", &Attrs::clip>, Attr<"step", &Attrs::step>,
                         Attr<"step_w", &Attrs::step_w>, Attr<"step_h", &Attrs::step_h>, Attr<"offset", &Attrs::offset, kRequired>, Attr<"variance", &Attrs::variance>>,
     .infer = infer,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "PriorBoxClustered", .versions = kVersions};

}  // namespace ovir::ops::prior_box_clustered
