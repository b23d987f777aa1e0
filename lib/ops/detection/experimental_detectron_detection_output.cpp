// ExperimentalDetectronDetectionOutput: moves regions by the deltas of each class, suppresses, and lists the best.
// Spec: operation-sets/operation-specs/detection/experimental-detectron-detection-output-6
#include "op/kit/proposals.hpp"
#include "op/op.hpp"
#include "op/work.hpp"

namespace ovir::ops::experimental_detectron_detection_output {
namespace {

enum Input { rois, deltas, scores, im_info };
enum Output { boxes, labels, box_scores };

struct Attrs {
  float score_threshold = 0, nms_threshold = 0, max_delta_log_wh = 0;
  i64 num_classes = 0, post_nms_count = 0, max_detections_per_image = 0;
  bool class_agnostic_box_regression = false;
  std::vector<float> deltas_weights;
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  constexpr auto kLimit = i64{1} << 31;
  c.require_attr(0 <= a.num_classes && a.num_classes < kLimit, "num_classes", "must be in 0..{1}, but is {0}",
                 a.num_classes, INT32_MAX);
  c.require_attr(0 <= a.max_detections_per_image && a.max_detections_per_image < kLimit, "max_detections_per_image",
                 "must be in 0..{1}, but is {0}", a.max_detections_per_image, INT32_MAX);
  c.require_attr(a.deltas_weights.size() == 4, "deltas_weights", "must hold 4 numbers, but holds {}",
                 counted(a.deltas_weights.size(), "number"));
  Dim count;
  const i64 columns[] = {4, a.num_classes * 4, a.num_classes};
  for (int port = rois; port <= scores; ++port) {
    c.require_rank(port, 2);
    const auto& shape = c.shape(port);
    if (!shape.has_rank()) continue;
    c.require(shape[1].contains(columns[port]), port, Code::E0506,
              "input \"{}\" of {} must have {} columns, but its shape is {}", c.port_name(port), c.op().type,
              columns[port], to_string(shape));
    count = c.require_same_dim(count, shape[0], port, "the number of \"rois\"",
                               fmt::format("that of \"{}\"", c.port_name(port)));
  }
  c.require_rank(im_info, 2);
  if (const auto& shape = c.shape(im_info); shape.has_rank())
    c.require(shape[0].contains(1) && shape[1].contains(3), im_info, Code::E0506,
              "input \"im_info\" of ExperimentalDetectronDetectionOutput must have shape [1,3], but its shape is {}",
              to_string(shape));
  c.output(boxes, PartialShape{Dim(a.max_detections_per_image), Dim(4)});
  if (c.output_count() > labels) c.output(labels, PartialShape{Dim(a.max_detections_per_image)});
  if (c.output_count() > box_scores) c.output(box_scores, PartialShape{Dim(a.max_detections_per_image)});
}

struct Found {
  float score;
  i64 label, roi;
  Proposal box;
};

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto f32 = [&](int port) { return convert(c.in(port), ElementType::f32); };
  const auto regions = f32(rois), moves = f32(deltas), confidences = f32(scores);
  const auto count = regions.dim(0);
  constexpr float kPixel = 1;
  std::vector<Found> all;
  for (i64 k = 1; k < a.num_classes; ++k) {  // class 0 is the background
    std::vector<Found> of_class, kept;
    for (i64 r = 0; r < count; ++r) {
      const float* roi = regions.data<float>() + r * 4;
      const float score = confidences.data<float>()[r * a.num_classes + k];
      if (roi[2] - roi[0] <= 0 || roi[3] - roi[1] <= 0 || !(score > a.score_threshold)) continue;
      float box[4], delta[4];
      for (std::size_t i = 0; i < 4; ++i) {
        box[i] = roi[i];
        delta[i] = moves.data<float>()[(r * a.num_classes + k) * 4 + i] / a.deltas_weights[i];
      }
      move_box(box, delta, a.max_delta_log_wh, kPixel);
      of_class.push_back({score,
                          k,
                          r,
                          {std::max(box[0], 0.0F), std::max(box[1], 0.0F), std::max(box[2], 0.0F),
                           std::max(box[3], 0.0F), score, true}});
    }
    std::stable_sort(of_class.begin(), of_class.end(),
                     [](const Found& x, const Found& y) { return x.score > y.score; });
    const auto area = [&](const Proposal& p) { return (p.x1 - p.x0 + kPixel) * (p.y1 - p.y0 + kPixel); };
    const auto overlap = [&](const Proposal& p, const Proposal& q) {
      if (p.x0 > q.x1 || q.x0 > p.x1 || p.y0 > q.y1 || q.y0 > p.y1) return 0.0F;
      const float common = (std::min(p.x1, q.x1) - std::max(p.x0, q.x0) + kPixel) *
                           (std::min(p.y1, q.y1) - std::max(p.y0, q.y0) + kPixel);
      return common / (area(p) + area(q) - common);
    };
    for (const auto& f : of_class) {
      constexpr i64 kOverlap = 4;
      spend(kOverlap * std::ssize(kept));
      if (std::none_of(kept.begin(), kept.end(),
                       [&](const Found& other) { return overlap(f.box, other.box) > a.nms_threshold; }))
        kept.push_back(f);
    }
    if (a.post_nms_count >= 0 && a.post_nms_count < std::ssize(kept)) kept.resize(a.post_nms_count);
    all.insert(all.end(), kept.begin(), kept.end());
  }
  const auto max = a.max_detections_per_image;
  if (std::ssize(all) > max) {
    std::stable_sort(all.begin(), all.end(), [](const Found& x, const Found& y) {
      return x.score > y.score || (x.score == y.score && x.roi < y.roi);
    });
    all.resize(max);
  }

  auto& to = c.out(boxes);
  dispatch(to.type(), Floats{}, [&]<class T>() {
    T* box = to.mutable_data<T>();
    std::fill_n(box, to.size(), T(0));
    for (const auto& f : all)
      for (const float v : {f.box.x0, f.box.y0, f.box.x1, f.box.y1}) *box++ = static_cast<T>(v);
    if (c.output_count() <= box_scores) return;
    auto& values = c.out(box_scores);
    std::fill_n(values.mutable_data<T>(), values.size(), T(0));
    std::transform(all.begin(), all.end(), values.mutable_data<T>(),
                   [](const Found& f) { return static_cast<T>(f.score); });
  });
  if (c.output_count() <= labels) return;
  auto& classes = c.out(labels);
  std::fill_n(classes.mutable_data<std::int32_t>(), classes.size(), 0);
  std::transform(all.begin(), all.end(), classes.mutable_data<std::int32_t>(),
                 [](const Found& f) { return static_cast<std::int32_t>(f.label); });
}

constexpr TypeVar T{"T", kFloat}, TLabel{"T_IND", set_of(ElementType::i32)};
constexpr PortDef kInputs[] = {{"rois", T}, {"deltas", T}, {"scores", T}, {"im_info", T}};
constexpr PortDef kOutputs[] = {{"boxes", T}, {"classes", TLabel}, {"scores", T}};
constexpr Version kVersions[] = {
    {.since = 6,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"score_threshold", &Attrs::score_threshold, kRequired>,
                         Attr<"nms_threshold", &Attrs::nms_threshold, kRequired>,
                         Attr<"max_delta_log_wh", &Attrs::max_delta_log_wh, kRequired>,
                         Attr<"num_classes", &Attrs::num_classes, kRequired>,
                         Attr<"post_nms_count", &Attrs::post_nms_count, kRequired>,
                         Attr<"max_detections_per_image", &Attrs::max_detections_per_image, kRequired>,
                         Attr<"class_agnostic_box_regression", &Attrs::class_agnostic_box_regression>,
                         Attr<"deltas_weights", &Attrs::deltas_weights, kRequired>>,
     .infer = infer,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "ExperimentalDetectronDetectionOutput",
                                 .spec = "detection/experimental-detectron-detection-output",
                                 .versions = kVersions};

}  // namespace ovir::ops::experimental_detectron_detection_output
