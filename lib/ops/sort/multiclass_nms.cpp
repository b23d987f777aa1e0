// MulticlassNms: non-maximum suppression, class by class and image by image.
// Spec: operation-sets/operation-specs/sort/multiclass-non-max-suppression-8, multiclass-non-max-suppression-9
#include "op/kit/detections.hpp"
#include "op/op.hpp"
#include "op/ports.hpp"
#include "op/work.hpp"

namespace ovir::ops::multiclass_nms {
namespace {

enum Input { boxes, scores, roisnum };

using Attrs = DetectionAttrs;

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_attr(0 <= a.nms_eta && a.nms_eta <= 1, "nms_eta", "must be in 0..1, but is {}", a.nms_eta);
  c.require_rank(boxes, 3);
  const bool own_boxes = c.has(roisnum);  // each class has boxes of its own, the images' one after the other
  if (own_boxes) c.require_rank(roisnum, 1);
  c.require_rank(scores, own_boxes ? 2 : 3, 3);
  Dim images, classes, count;
  const bool shared = !own_boxes || (c.shape(scores).has_rank() && c.shape(scores).rank() == 3);
  if (const auto& shape = c.shape(boxes); shape.has_rank()) {
    c.require(shape[2].contains(4), boxes, Code::E0506,
              "the last dim of input \"boxes\" of MulticlassNms must be 4, but its shape is {}", to_string(shape));
    (shared ? images : classes) = shape[0];
    count = shape[1];
  }
  if (const auto& shape = c.shape(scores); shape.has_rank()) {
    auto& first = shared ? images : classes;
    first = c.require_same_dim(first, shape[0], scores,
                               shared ? "the batch of \"boxes\"" : "the number of classes of \"boxes\"",
                               "that of \"scores\"");
    count = c.require_same_dim(count, shape[shared ? 2 : 1], scores, "the number of boxes of \"boxes\"",
                               "that of \"scores\"");
    if (shared) classes = shape[1];
  }
  if (!shared && c.shape(roisnum).has_rank()) images = c.shape(roisnum)[0];
  if (own_boxes && !c.shape(scores).has_rank()) images = classes = Dim();
  infer_detections(c, a, images, classes, count);
}

template <class T>
T overlap(const T* a, const T* b, bool normalized) {
  const T more = normalized ? 0 : 1;
  const auto area = [&](const T* x) { return (x[2] - x[0] + more) * (x[3] - x[1] + more); };
  if (area(a) <= 0 || area(b) <= 0) return 0;
  const T common = std::max<T>(0, std::min(a[2], b[2]) - std::max(a[0], b[0]) + more) *
                   std::max<T>(0, std::min(a[3], b[3]) - std::max(a[1], b[1]) + more);
  return common / (area(a) + area(b) - common);
}

/// Steps 1 to 9 of the specification: the numbers of the boxes that are kept, best first.
template <class T>
std::vector<i64> suppress(const Attrs& a, const T* box, const T* score, i64 count) {
  std::vector<i64> candidates, kept;
  for (i64 i = 0; i < count; ++i)
    if (score[i] >= static_cast<T>(a.score_threshold)) candidates.push_back(i);
  std::stable_sort(candidates.begin(), candidates.end(), [&](i64 i, i64 j) { return score[i] > score[j]; });
  if (a.nms_top_k >= 0 && a.nms_top_k < std::ssize(candidates)) candidates.resize(a.nms_top_k);
  auto threshold = static_cast<T>(a.iou_threshold);
  while (!candidates.empty()) {
    constexpr i64 kOverlap = 4;
    spend(kOverlap * std::ssize(candidates));
    const auto best = candidates.front();
    kept.push_back(best);
    if (a.nms_eta < 1 && threshold > static_cast<T>(0.5)) threshold *= static_cast<T>(a.nms_eta);
    candidates.erase(candidates.begin());
    std::erase_if(candidates, [&](i64 i) { return overlap(box + best * 4, box + i * 4, a.normalized) > threshold; });
  }
  return kept;
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& coordinates = c.in(boxes);
  const auto& all_scores = c.in(scores);
  const bool shared = all_scores.rank() == 3;
  const auto classes = all_scores.dim(shared ? 1 : 0), count = coordinates.dim(1);
  const auto sizes = shared ? Shape(all_scores.dim(0), count) : Shape(c.ints(roisnum));
  std::vector<Detection> all;
  std::vector<i64> counts;
  dispatch(coordinates.type(), Floats{}, [&]<class T>() {
    i64 first = 0;  // of the image's boxes, where classes have their own
    for (i64 n = 0; n < std::ssize(sizes); ++n) {
      const auto image = n;
      if (!shared && (sizes[n] < 0 || sizes[n] > count - first))
        fail_at(c.version(), roisnum, Code::E0508,
                fmt::format("input \"roisnum\" of MulticlassNms gives image {} {} boxes, but {} are left", n, sizes[n],
                            count - first));
      std::vector<Detection> of_image;
      for (i64 k = 0; k < classes; ++k) {
        if (k == a.background_class) continue;
        const T* box = coordinates.data<T>() + (shared ? image * count : k * count + first) * 4;
        const T* score = all_scores.data<T>() + (shared ? (image * classes + k) * count : k * count + first);
        for (const auto i : suppress(a, box, score, sizes[n])) {
          Detection d{
              image, k, i, shared ? image * count + i : (first + i) * classes + k, static_cast<double>(score[i]), {}};
          std::copy_n(box + i * 4, 4, d.corners);
          of_image.push_back(d);
        }
      }
      keep_best(of_image, a);
      if (!a.sort_result_across_batch && a.sort_result == SortResult::classid)
        std::stable_sort(of_image.begin(), of_image.end(),
                         [](const Detection& x, const Detection& y) { return x.label < y.label; });
      counts.push_back(std::ssize(of_image));
      all.insert(all.end(), of_image.begin(), of_image.end());
      if (!shared) first += sizes[n];
    }
  });
  put_detections(c, a, std::move(all), counts);
}

constexpr TypeVar T{"T", kFloat}, TRois{"T_ROIS", kIndex}, TIndices{"T_IND", kIndex};
constexpr PortDef kInputs8[] = {{"boxes", T}, {"scores", T}};
constexpr PortDef kInputs9[] = {{"boxes", T}, {"scores", T}, {"roisnum", TRois, Arity::optional}};
constexpr PortDef kOutputs[] = {{"selected_outputs", T}, {"selected_indices", TIndices}, {"selected_num", TIndices}};
constexpr auto kAttrs = kDetectionAttrs<Attr<"iou_threshold", &Attrs::iou_threshold>, Attr<"nms_eta", &Attrs::nms_eta>>;
constexpr Version kVersions[] = {
    {.since = 8,
     .inputs = kInputs8,
     .outputs = kOutputs,
     .attrs = kAttrs,
     .infer = infer,
     .sized_by_data = true,
     .eval = eval},
    {.since = 9,
     .inputs = kInputs9,
     .outputs = kOutputs,
     .attrs = kAttrs,
     .infer = infer,
     .sized_by_data = true,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{
    .type = "MulticlassNms", .spec = "sort/multiclass-non-max-suppression", .versions = kVersions};

}  // namespace ovir::ops::multiclass_nms
