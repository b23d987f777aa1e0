// PriorBox: boxes of the given sizes and aspect ratios around each point of a grid, relative to the image.
// Spec: operation-sets/operation-specs/detection/prior-box-8
#include "ops/detection/common.hpp"

namespace ovir::ops::prior_box {
namespace {

enum Input { output_size, image_size };

struct Attrs {
  std::vector<float> min_size, max_size, aspect_ratio, variance, fixed_ratio, fixed_size, density;
  bool flip = false, clip = false, scale_all_sizes = true, min_max_aspect_ratios_order = true;
  float step = 0, offset = 0;
};

/// The aspect ratios in their order, 1 first, each once, flipped ones after their own.
std::vector<float> ratios(const Attrs& a) {
  std::vector<float> list{1.0f};
  for (const auto ratio : a.aspect_ratio) {
    if (std::any_of(list.begin(), list.end(), [&](float had) { return std::abs(ratio - had) < 1e-6f; })) continue;
    list.push_back(ratio);
    if (a.flip) list.push_back(1.0f / ratio);
  }
  return list;
}

/// A box around a grid point: half its sides and how far its center is from the point, in pixels.
struct Box {
  float half_width, half_height, x = 0, y = 0;
  bool fixed = false;  ///< of fixed_size: always cut to the image where it leaves it
};
constexpr std::size_t kMaxBoxes = 1 << 20;

/// The boxes of one grid point. `scale` is what min_size is measured in.
std::vector<Box> boxes_of(const Attrs& a, float scale) {
  std::vector<Box> boxes;
  const auto aspect = ratios(a);
  for (std::size_t s = 0; s < a.fixed_size.size(); ++s) {
    const auto size = a.fixed_size[s];
    const auto pixels = static_cast<i64>(size), middle = pixels / 2;
    const auto whole = static_cast<float>(pixels);
    const auto density = s < a.density.size() ? static_cast<i64>(a.density[s]) : 0;
    const auto shift = density > 0 ? static_cast<float>(static_cast<i64>(size / static_cast<float>(density))) : 0.0f;
    // density x density boxes of one shape, spread evenly over the size
    const auto spread = [&](float half_width, float half_height) {
      for (i64 r = 0; r < density && boxes.size() < kMaxBoxes; ++r)
        for (i64 c = 0; c < density && boxes.size() < kMaxBoxes; ++c) {
          const auto at = [&](i64 i) {
            return -static_cast<float>(middle) + shift / 2 + static_cast<float>(i) * shift;
          };
          boxes.push_back({half_width, half_height, at(c), at(r), true});
        }
    };
    if (!a.fixed_ratio.empty()) {
      for (const auto ratio : a.fixed_ratio) spread(size * 0.5f * std::sqrt(ratio), size * 0.5f / std::sqrt(ratio));
      continue;
    }
    spread(whole * 0.5f, whole * 0.5f);
    for (std::size_t i = 1; i < aspect.size(); ++i)
      spread(size * 0.5f * std::sqrt(aspect[i]), size * 0.5f / std::sqrt(aspect[i]));
  }
  for (std::size_t s = 0; s < a.min_size.size(); ++s) {
    const auto size = a.min_size[s] * scale;
    boxes.push_back({size * 0.5f, size * 0.5f});
    const auto largest = [&] {
      if (a.scale_all_sizes && s < a.max_size.size())
        boxes.push_back({std::sqrt(size * a.max_size[s]) * 0.5f, std::sqrt(size * a.max_size[s]) * 0.5f});
    };
    if (a.min_max_aspect_ratios_order) largest();
    // Without scale_all_sizes the ratios come once, after the last size, and of the first.
    if (a.scale_all_sizes || s + 1 == a.min_size.size()) {
      const auto base = a.scale_all_sizes ? size : a.min_size[0] * scale;
      for (std::size_t i = 1; i < aspect.size(); ++i)
        boxes.push_back({base * 0.5f * std::sqrt(aspect[i]), base * 0.5f / std::sqrt(aspect[i])});
    }
    if (!a.min_max_aspect_ratios_order) largest();
  }
  return boxes;
}

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  detection::require_variance(c, a.variance);
  c.require_attr(a.density.size() == a.fixed_size.size() || a.fixed_size.empty(), "density",
                 "must hold as many numbers as \"fixed_size\" ({1}), but holds {0}",
                 counted(a.density.size(), "number"), a.fixed_size.size());
  const auto require_sizes = [&](const std::vector<float>& list, std::string_view attribute) {
    c.require_each(
        list, [](float v) { return v >= 0 && v < 1e9f; }, attribute, "must hold numbers in 0..1e9, but holds {}");
  };
  require_sizes(a.density, "density");
  require_sizes(a.fixed_size, "fixed_size");
  require_sizes(a.min_size, "min_size");
  require_sizes(a.max_size, "max_size");
  detection::require_grid(c);
  const auto per_point = boxes_of(a, 1).size();
  c.require_attr(per_point < kMaxBoxes, "density", "must not ask for more than {} boxes at each point", kMaxBoxes);
  detection::output_priors(c, per_point);
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto grid = c.ints(output_size), image = c.ints(image_size);
  const auto H = grid[0], W = grid[1];
  const auto image_height = static_cast<float>(image[0]), image_width = static_cast<float>(image[1]);
  // Without scale_all_sizes, sizes and step are relative to the image's height; step -1 spans it.
  const auto boxes = boxes_of(a, a.scale_all_sizes ? 1 : image_height);
  float step = a.step;
  if (!a.scale_all_sizes) step = step == -1 ? image_height / static_cast<float>(H) : step * image_height;
  const auto step_x = step == 0 ? image_width / static_cast<float>(W) : step,
             step_y = step == 0 ? image_height / static_cast<float>(H) : step;
  const auto offset = step == 0 ? 0.5f : a.offset;

  auto& out = c.out(0);
  if (out.size() == 0) return;
  auto* to = out.mutable_data<float>();
  for (i64 h = 0; h < H; ++h)
    for (i64 w = 0; w < W; ++w)
      for (const auto& box : boxes) {
        const auto x = (static_cast<float>(w) + offset) * step_x + box.x,
                   y = (static_cast<float>(h) + offset) * step_y + box.y;
        float corners[] = {(x - box.half_width) * (1 / image_width), (y - box.half_height) * (1 / image_height),
                           (x + box.half_width) * (1 / image_width), (y + box.half_height) * (1 / image_height)};
        for (std::size_t i = 0; i < 4; ++i) {
          if (a.clip || (box.fixed && i < 2)) corners[i] = std::max(corners[i], 0.0f);
          if (a.clip || (box.fixed && i >= 2)) corners[i] = std::min(corners[i], 1.0f);
          *to++ = corners[i];
        }
      }
  detection::put_variances(out, a.variance);
}

using A = Attrs;
constexpr TypeVar TOutputSize{"T_INT", kInteger}, TImageSize{"T_INT2", kInteger},
    TOut{"T_OUT", set_of(ElementType::f32)};
constexpr PortDef kInputs[] = {{"output_size", TOutputSize}, {"image_size", TImageSize}};
constexpr PortDef kOutputs[] = {{"output", TOut}};
template <class... More>
constexpr auto kAttrs =
    attributes<A, Attr<"min_size", &A::min_size>, Attr<"max_size", &A::max_size>,
               Attr<"aspect_ratio", &A::aspect_ratio>, Attr<"flip", &A::flip>, Attr<"clip", &A::clip>,
               Attr<"step", &A::step>, Attr<"offset", &A::offset, kRequired>, Attr<"variance", &A::variance>,
               Attr<"scale_all_sizes", &A::scale_all_sizes>, Attr<"fixed_ratio", &A::fixed_ratio>,
               Attr<"fixed_size", &A::fixed_size>, Attr<"density", &A::density>, More...>;
consteval Version version(int since, AttributeTable attrs) {
  return {.since = since,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = attrs,
          .infer = infer,
          .reads = ports(output_size),
          .eval = eval};
}
constexpr Version kVersions[] = {
    version(1, kAttrs<>),
    version(8, kAttrs<Attr<"min_max_aspect_ratios_order", &A::min_max_aspect_ratios_order>>),
};

}  // namespace

extern constinit const OpDef def{.type = "PriorBox", .spec = "detection/prior-box", .versions = kVersions};

}  // namespace ovir::ops::prior_box
