// ExperimentalDetectronGenerateProposalsSingleImage: region proposals of one image, filled up with zeros.
// Spec: operation-sets/operation-specs/detection/experimental-detectron-generate-proposals-single-image-6
#include "op/kit/proposals.hpp"
#include "op/op.hpp"

namespace ovir::ops::experimental_detectron_generate_proposals_single_image {
namespace {

enum Input { im_info, anchors, deltas, scores };
enum Output { rois, roi_scores };

struct Attrs {
  float min_size = 0, nms_threshold = 0;
  i64 pre_nms_count = 0, post_nms_count = 0;
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  constexpr auto kLimit = i64{1} << 31;
  c.require_attr(0 <= a.pre_nms_count && a.pre_nms_count < kLimit, "pre_nms_count", "must be in 0..{1}, but is {0}",
                 a.pre_nms_count, INT32_MAX);
  c.require_attr(0 <= a.post_nms_count && a.post_nms_count < kLimit, "post_nms_count", "must be in 0..{1}, but is {0}",
                 a.post_nms_count, INT32_MAX);
  c.require_rank(im_info, 1);
  c.require_rank(anchors, 2);
  c.require_rank(deltas, 3);
  c.require_rank(scores, 3);
  if (const auto& shape = c.shape(im_info); shape.has_rank())
    c.require(shape[0].contains(3), im_info, Code::E0506,
              "input \"im_info\" of ExperimentalDetectronGenerateProposalsSingleImage must hold 3 numbers, but its "
              "shape is {}",
              to_string(shape));
  Dim count, height, width;
  if (const auto& shape = c.shape(scores); shape.has_rank()) count = shape[0], height = shape[1], width = shape[2];
  if (const auto& shape = c.shape(deltas); shape.has_rank()) {
    c.require_same_dim(count * Dim(4), shape[0], deltas, "4 numbers for each anchor",
                       "the number of channels of \"deltas\"");
    height = c.require_same_dim(height, shape[1], deltas, "the height of \"deltas\"", "that of \"scores\"");
    width = c.require_same_dim(width, shape[2], deltas, "the width of \"deltas\"", "that of \"scores\"");
  }
  if (const auto& shape = c.shape(anchors); shape.has_rank()) {
    c.require(shape[1].contains(4), anchors, Code::E0506,
              "input \"anchors\" of ExperimentalDetectronGenerateProposalsSingleImage must have 4 columns, but its "
              "shape is {}",
              to_string(shape));
    c.require_same_dim(count * height * width, shape[0], anchors, "the number of elements of \"scores\"",
                       "the number of rows of \"anchors\"");
  }
  c.output(rois, PartialShape{Dim(a.post_nms_count), Dim(4)});
  c.output(roi_scores, PartialShape{Dim(a.post_nms_count)});
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto f32 = [&](int port) { return convert(c.in(port), ElementType::f32); };
  const auto info = f32(im_info), anchor = f32(anchors), delta = f32(deltas), score = f32(scores);
  const float* image = info.data<float>();
  auto found =
      decode_proposals(anchor.data<float>(), delta.data<float>(), score.data<float>(), score.dim(1) * score.dim(2),
                       score.dim(0), {image[0], image[1], a.min_size, a.min_size, 1});
  // Boxes that are too small stay, but as the worst of all.
  for (auto& p : found) {
    if (!p.large_enough) p.score = 0;
    p.large_enough = true;
  }
  found = select_proposals(std::move(found), a.pre_nms_count, a.post_nms_count, a.nms_threshold, 1, 0);
  auto &boxes = c.out(rois, {a.post_nms_count, 4}), &values = c.out(roi_scores, {a.post_nms_count});
  dispatch(boxes.type(), Floats{}, [&]<class T>() {
    T *box = boxes.mutable_data<T>(), *value = values.mutable_data<T>();
    std::fill_n(box, boxes.size(), T(0));
    std::fill_n(value, values.size(), T(0));
    for (const auto& p : found) {
      for (const float v : {p.x0, p.y0, p.x1, p.y1}) *box++ = static_cast<T>(v);
      *value++ = static_cast<T>(p.score);
    }
  });
}

constexpr TypeVar T{"T", kFloat};
constexpr PortDef kInputs[] = {{"im_info", T}, {"anchors", T}, {"deltas", T}, {"scores", T}};
constexpr PortDef kOutputs[] = {{"rois", T}, {"scores", T}};
constexpr Version kVersions[] = {
    {.since = 6,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"min_size", &Attrs::min_size, kRequired>,
                         Attr<"nms_threshold", &Attrs::nms_threshold, kRequired>,
                         Attr<"pre_nms_count", &Attrs::pre_nms_count, kRequired>,
                         Attr<"post_nms_count", &Attrs::post_nms_count, kRequired>>,
     .infer = infer,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "ExperimentalDetectronGenerateProposalsSingleImage",
                                 .spec = "detection/experimental-detectron-generate-proposals-single-image",
                                 .versions = kVersions};

}  // namespace ovir::ops::experimental_detectron_generate_proposals_single_image
