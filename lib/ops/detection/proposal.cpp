// Proposal: anchors of several ratios and scales at every point of a feature map, moved by deltas; the best are kept.
// Spec: operation-sets/operation-specs/detection/proposal-1, proposal-4
#include "op/kit/proposals.hpp"
#include "op/op.hpp"

namespace ovir::ops::proposal {
namespace {

enum Input { class_probs, bbox_deltas, image_shape };
enum Output { rois, probabilities };

struct Attrs {
  i64 base_size = 0, pre_nms_topn = 0, post_nms_topn = 0, feat_stride = 0, min_size = 0;
  float nms_thresh = 0, box_size_scale = 1, box_coordinate_scale = 1;
  std::vector<float> ratio, scale;
  bool clip_before_nms = true, clip_after_nms = false, normalize = false;
  std::string framework;

  bool tensorflow() const { return framework == "tensorflow"; }
  i64 anchors() const { return std::ssize(ratio) * std::ssize(scale); }
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto positive = [&](i64 v, std::string_view attribute) {
    c.require_attr(0 < v && v < (i64{1} << 31), attribute, "must be in 1..{1}, but is {0}", v, INT32_MAX);
  };
  positive(a.base_size, "base_size");
  positive(a.pre_nms_topn, "pre_nms_topn");
  positive(a.post_nms_topn, "post_nms_topn");
  positive(a.feat_stride, "feat_stride");
  c.require_attr(a.framework.empty() || a.tensorflow(), "framework", "must be \"\" or \"tensorflow\", but is \"{}\"",
                 a.framework);
  c.require_each(
      a.ratio, [](float v) { return v > 0; }, "ratio", "must hold positive numbers, but holds {}");
  c.require_rank(class_probs, 4);
  c.require_rank(bbox_deltas, 4);
  c.require_rank(image_shape, 1);
  if (const auto& shape = c.shape(image_shape); shape.has_rank())
    c.require(shape[0].compatible(Dim(3, 4)), image_shape, Code::E0506,
              "input \"image_shape\" of Proposal must hold 3 or 4 numbers, but its shape is {}", to_string(shape));
  Dim batch, height, width;
  const i64 channels[] = {a.anchors() * 2, a.anchors() * 4};
  for (int port = class_probs; port <= bbox_deltas; ++port) {
    const auto& shape = c.shape(port);
    if (!shape.has_rank()) continue;
    batch = c.require_same_dim(batch, shape[0], port, "the batch of \"class_probs\"", "that of \"bbox_deltas\"");
    c.require(shape[1].contains(channels[port]), port, Code::E0506,
              "input \"{}\" of Proposal must have {} channels for {} anchors, but its shape is {}", c.port_name(port),
              channels[port], a.anchors(), to_string(shape));
    height = c.require_same_dim(height, shape[2], port, "the height of \"class_probs\"", "that of \"bbox_deltas\"");
    width = c.require_same_dim(width, shape[3], port, "the width of \"class_probs\"", "that of \"bbox_deltas\"");
  }
  c.output(rois, PartialShape{batch * Dim(a.post_nms_topn), Dim(5)});
  if (c.output_count() > probabilities) c.output(probabilities, PartialShape{batch * Dim(a.post_nms_topn)});
}

struct Anchor {
  float x0, y0, x1, y1;
};

/// Caffe works with whole pixels and boxes that include their last one; TensorFlow centers its anchors on the point.
std::vector<Anchor> anchors_of(const Attrs& a, float pixel) {
  std::vector<Anchor> anchors;
  const auto base = static_cast<float>(a.base_size), area = static_cast<float>(a.base_size * a.base_size);
  const float center = 0.5F * (base - pixel) - (a.tensorflow() ? 0.5F * base : 0.0F);
  for (const auto ratio : a.ratio) {
    float w = std::sqrt(area / ratio);
    if (!a.tensorflow()) w = std::round(w);
    float h = w * ratio;
    if (!a.tensorflow()) h = std::round(h);
    for (const auto scale : a.scale) {
      const float half_w = 0.5F * (w * scale - pixel), half_h = 0.5F * (h * scale - pixel);
      anchors.push_back({center - half_w, center - half_h, center + half_w, center + half_h});
    }
  }
  return anchors;
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto f32 = [&](int port) { return convert(c.in(port), ElementType::f32); };
  const auto probs = f32(class_probs), deltas = f32(bbox_deltas), image = f32(image_shape);
  const auto batch = probs.dim(0), height = probs.dim(2), width = probs.dim(3), cells = height * width;
  const float image_h = image.data<float>()[0], image_w = image.data<float>()[1];
  const float min_h = static_cast<float>(a.min_size) * image.data<float>()[2],
              min_w = static_cast<float>(a.min_size) * image.data<float>()[image.size() > 3 ? 3 : 2];
  const float pixel = a.tensorflow() ? 0.0F : 1.0F;
  const auto anchors = anchors_of(a, pixel);
  const auto inside = [](float v, float length) { return std::max(0.0F, std::min(v, length)); };

  std::vector<std::vector<Proposal>> found;
  for (i64 n = 0; n < batch; ++n) {
    std::vector<Proposal> all;
    // The first half of the scores is the background's.
    const float* score = probs.data<float>() + (n * 2 + 1) * a.anchors() * cells;
    const float* delta = deltas.data<float>() + n * 4 * a.anchors() * cells;
    for (i64 i = 0; i < cells; ++i) {
      const auto h = i / width, w = i % width;
      const auto x = static_cast<float>((a.tensorflow() ? h : w) * a.feat_stride),
                 y = static_cast<float>((a.tensorflow() ? w : h) * a.feat_stride);
      for (i64 k = 0; k < a.anchors(); ++k) {
        auto [x0, y0, x1, y1] = anchors[k];
        x0 += x;
        y0 += y;
        x1 += x;
        y1 += y;
        if (a.tensorflow()) {
          x0 = inside(x0, image_w);
          y0 = inside(y0, image_h);
          x1 = inside(x1, image_w);
          y1 = inside(y1, image_h);
        }
        const auto d = [&](i64 j, float scale) { return delta[(k * 4 + j) * cells + i] / scale; };
        const float box_w = x1 - x0 + pixel, box_h = y1 - y0 + pixel;
        const float center_x = d(0, a.box_coordinate_scale) * box_w + (x0 + 0.5F * box_w),
                    center_y = d(1, a.box_coordinate_scale) * box_h + (y0 + 0.5F * box_h);
        const float new_w = std::exp(d(2, a.box_size_scale)) * box_w, new_h = std::exp(d(3, a.box_size_scale)) * box_h;
        Proposal p{center_x - 0.5F * new_w,
                   center_y - 0.5F * new_h,
                   center_x + 0.5F * new_w,
                   center_y + 0.5F * new_h,
                   0,
                   true};
        if (a.clip_before_nms)
          p = {inside(p.x0, image_w - pixel),
               inside(p.y0, image_h - pixel),
               inside(p.x1, image_w - pixel),
               inside(p.y1, image_h - pixel),
               0,
               true};
        // Boxes that are too small stay, but as the worst of all.
        if (min_w <= p.x1 - p.x0 + pixel && min_h <= p.y1 - p.y0 + pixel) p.score = score[k * cells + i];
        all.push_back(p);
      }
    }
    found.push_back(select_proposals(std::move(all), a.pre_nms_topn, a.post_nms_topn, a.nms_thresh, 1, pixel));
  }

  auto& out = c.out(rois, {batch * a.post_nms_topn, 5});
  Tensor* scores = c.output_count() > probabilities ? &c.out(probabilities, {batch * a.post_nms_topn}) : nullptr;
  dispatch(out.type(), Floats{}, [&]<class T>() {
    T* roi = out.mutable_data<T>();
    std::fill_n(roi, out.size(), T(0));
    if (scores) std::fill_n(scores->mutable_data<T>(), scores->size(), T(0));
    for (i64 n = 0; n < batch; ++n) {
      const auto& kept = found[n];
      T* to = roi + n * a.post_nms_topn * 5;
      for (i64 i = 0; i < std::ssize(kept); ++i) {
        auto p = kept[i];
        if (a.clip_after_nms)
          p = {inside(p.x0, image_w),
               inside(p.y0, image_h),
               inside(p.x1, image_w),
               inside(p.y1, image_h),
               p.score,
               true};
        if (a.normalize) {
          p.x0 /= image_w;
          p.y0 /= image_h;
          p.x1 /= image_w;
          p.y1 /= image_h;
        }
        for (const float v : {static_cast<float>(n), p.x0, p.y0, p.x1, p.y1}) *to++ = static_cast<T>(v);
        if (scores) scores->mutable_data<T>()[n * a.post_nms_topn + i] = static_cast<T>(p.score);
      }
      // "if there is not enough proposals to fill the whole output tensor, the valid proposals will be terminated with
      // a single -1"
      if (std::ssize(kept) < a.post_nms_topn) *to = T(-1);
    }
  });
}

constexpr TypeVar T{"T", kFloat};
constexpr PortDef kInputs[] = {{"class_probs", T}, {"bbox_deltas", T}, {"image_shape", T}};
constexpr PortDef kOutputs1[] = {{"rois", T}};
constexpr PortDef kOutputs4[] = {{"rois", T}, {"scores", T}};
constexpr auto kAttrs = attributes<
    Attrs, Attr<"base_size", &Attrs::base_size, kRequired>, Attr<"pre_nms_topn", &Attrs::pre_nms_topn, kRequired>,
    Attr<"post_nms_topn", &Attrs::post_nms_topn, kRequired>, Attr<"nms_thresh", &Attrs::nms_thresh, kRequired>,
    Attr<"feat_stride", &Attrs::feat_stride, kRequired>, Attr<"min_size", &Attrs::min_size, kRequired>,
    Attr<"ratio", &Attrs::ratio, kRequired>, Attr<"scale", &Attrs::scale, kRequired>,
    Attr<"clip_before_nms", &Attrs::clip_before_nms>, Attr<"clip_after_nms", &Attrs::clip_after_nms>,
    Attr<"normalize", &Attrs::normalize>, Attr<"box_size_scale", &Attrs::box_size_scale>,
    Attr<"box_coordinate_scale", &Attrs::box_coordinate_scale>, Attr<"framework", &Attrs::framework>>;
constexpr Version kVersions[] = {
    {.since = 1, .inputs = kInputs, .outputs = kOutputs1, .attrs = kAttrs, .infer = infer, .eval = eval},
    {.since = 4, .inputs = kInputs, .outputs = kOutputs4, .attrs = kAttrs, .infer = infer, .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "Proposal", .spec = "detection/proposal", .versions = kVersions};

}  // namespace ovir::ops::proposal
