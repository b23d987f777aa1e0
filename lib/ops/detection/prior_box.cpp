// PriorBox: boxes of given sizes and aspect ratios around every point of a grid.
// Spec: operation-sets/operation-specs/detection/prior-box-1, prior-box-8
#include "ops/detection/common.hpp"

namespace ovir::ops::prior_box {
namespace {

enum Input { output_size, image_size };

struct Attrs {
  std::vector<float> min_size, max_size, aspect_ratio, density, fixed_ratio, fixed_size, variance;
  bool clip = false, flip = false, scale_all_sizes = true;
  bool min_max_aspect_ratios_order = true;
  float step = 0, offset = 0;
};

/// A box around a point: half its size, and where its centre lies from the point.
struct Prior {
  float half_width, half_height;
  float dx = 0, dy = 0;
  bool inside = false;  ///< cut to the image in any case
};

/// "Duplicate values are ignored"; 1 comes first whether it is named or not.
std::vector<float> aspect_ratios(const Attrs& a) {
  std::vector<float> ratios{1.0F};
  for (const auto ratio : a.aspect_ratio) {
    if (std::any_of(ratios.begin(), ratios.end(), [&](float r) { return std::fabs(r - ratio) < 1e-6F; })) continue;
    ratios.push_back(ratio);
    if (a.flip) ratios.push_back(1.0F / ratio);
  }
  return ratios;
}

/// density² boxes of one size, spread over the box of that size. Sizes and shifts are whole pixels.
void add_dense(std::vector<Prior>& priors, float size, float density, float ratio, bool square) {
  const auto n = static_cast<std::int64_t>(density), whole = static_cast<std::int64_t>(size), shift = static_cast<std::int64_t>(size / static_cast<float>(n));
  const float root = std::sqrt(ratio), half = 0.5F * (square ? static_cast<float>(whole) : size);
  const auto centre = [&](std::int64_t i) { return static_cast<float>(shift) / 2.0F - static_cast<float>(whole / 2) + static_cast<float>(i * shift); };
  for (std::int64_t r = 0; r < n; ++r)
    for (std::int64_t c = 0; c < n; ++c) priors.push_back({half * root, half / root, centre(c), centre(r), true});
}

/// All boxes around one point, in the order of the output; `scale` is what sizes are multiplied with.
std::vector<Prior> priors_of(const Attrs& a, float scale) {
  std::vector<Prior> priors;
  const auto ratios = aspect_ratios(a);
  for (std::size_t s = 0; s < a.fixed_size.size(); ++s) {
    const float density = s < a.density.size() ? a.density[s] : 1.0F;
    for (const auto ratio : a.fixed_ratio.empty() ? ratios : a.fixed_ratio) add_dense(priors, a.fixed_size[s], density, ratio, a.fixed_ratio.empty() && ratio == 1.0F);
  }
  if (!a.fixed_size.empty()) return priors;
  for (std::size_t s = 0; s < a.min_size.size(); ++s) {
    const float size = a.min_size[s] * scale;
    priors.push_back({size * 0.5F, size * 0.5F});
    const auto add_max = [&] {
      if (!a.scale_all_sizes || s >= a.max_size.size()) return;  // "false - max_size is ignored"
      const float between = std::sqrt(size * a.max_size[s]) * 0.5F;
      priors.push_back({between, between});
    };
    if (a.min_max_aspect_ratios_order) add_max();
    // Where not all sizes are scaled, only the first one takes the other aspect ratios, at the end.
    if (a.scale_all_sizes || s + 1 == a.min_size.size()) {
      const float half = (a.scale_all_sizes ? size : a.min_size[0] * scale) * 0.5F;
      for (std::size_t r = 1; r < ratios.size(); ++r) priors.push_back({half * std::sqrt(ratios[r]), half / std::sqrt(ratios[r])});
    }
    if (!a.min_max_aspect_ratios_order) add_max();
  }
  return priors;
}

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto positive = [&](const std::vector<float>& list, std::string_view attribute, float least) {
    for (const auto v : list) c.require_attr(v > 0 && v >= least && v < 1e6F, attribute, "{} is out of range", v);
  };
  positive(a.min_size, "min_size", 0);
  positive(a.max_size, "max_size", 0);
  positive(a.aspect_ratio, "aspect_ratio", 0);
  positive(a.fixed_ratio, "fixed_ratio", 0);
  positive(a.fixed_size, "fixed_size", 0);
  positive(a.density, "density", 1);
  for (const auto v : a.density) c.require_attr(v <= 1000, "density", "{} is out of range", v);
  detection::infer_priors(c, static_cast<std::int64_t>(priors_of(a, 1).size()), a.variance);
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto grid = c.ints(output_size), image = c.ints(image_size);
  const auto height = static_cast<float>(image.at(0)), width = static_cast<float>(image.at(1));
  const float scale = a.scale_all_sizes ? 1.0F : height;
  float step = a.step;
  if (!a.scale_all_sizes) step = step == -1.0F ? height / static_cast<float>(grid.at(0)) : step * height;
  const auto priors = priors_of(a, scale);
  const Shape shape{2, c.out_shape(0)[1].is_static() ? c.out_shape(0)[1].length() : element_count({grid.at(0), grid.at(1), static_cast<std::int64_t>(priors.size()), 4})};
  auto& out = c.out(0, shape);
  auto* to = out.mutable_data<float>();
  const auto put = [&](float v) { *to++ = a.clip ? std::clamp(v, 0.0F, 1.0F) : v; };
  for (std::int64_t h = 0; h < grid[0]; ++h)
    for (std::int64_t w = 0; w < grid[1]; ++w) {
      const auto centre = [&](std::int64_t i, float length, std::int64_t cells) {
        return step == 0 ? (static_cast<float>(i) + 0.5F) * (length / static_cast<float>(cells)) : (static_cast<float>(i) + a.offset) * step;
      };
      const float x = centre(w, width, grid[1]), y = centre(h, height, grid[0]);
      for (const auto& p : priors) {
        const float left = (x + p.dx - p.half_width) * (1 / width), top = (y + p.dy - p.half_height) * (1 / height);
        const float right = (x + p.dx + p.half_width) * (1 / width), bottom = (y + p.dy + p.half_height) * (1 / height);
        put(p.inside ? std::max(left, 0.0F) : left);
        put(p.inside ? std::max(top, 0.0F) : top);
        put(p.inside ? std::min(right, 1.0F) : right);
        put(p.inside ? std::min(bottom, 1.0F) : bottom);
      }
    }
  detection::fill_variances(out, a.variance);
}

constexpr TypeVar TInt{"T_INT", kInteger}, TOut{"T_OUT", set_of(ElementType::f32)};
constexpr PortDef kInputs[] = {{"output_size", TInt}, {"image_size", TInt}};
constexpr PortDef kOutputs[] = {{"output", TOut}};
template <class... More>
constexpr auto kAttrs = attributes<Attrs, Attr<"min_size", &Attrs::min_size>, Attr<"max_size", &Attrs::max_size>, Attr<"aspect_ratio", &Attrs::aspect_ratio>,
                                   Attr<"density", &Attrs::density>, Attr<"fixed_ratio", &Attrs::fixed_ratio>, Attr<"fixed_size", &Attrs::fixed_size>,
                                   Attr<"clip", &Attrs::clip>, Attr<"flip", &Attrs::flip>, Attr<"step", &Attrs::step>, Attr<"offset", &Attrs::offset, kRequired>,
                                   Attr<"variance", &Attrs::variance>, Attr<"scale_all_sizes", &Attrs::scale_all_sizes>, More...>;
constexpr Version kVersions[] = {
    {.since = 1, .inputs = kInputs, .outputs = kOutputs, .attrs = kAttrs<>, .infer = infer, .eval = eval},
    {.since = 8,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kAttrs<Attr<"min_max_aspect_ratios_order", &Attrs::min_max_aspect_ratios_order>>,
     .infer = infer,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "PriorBox", .versions = kVersions};

}  // namespace ovir::ops::prior_box
