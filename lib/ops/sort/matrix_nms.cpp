// MatrixNms: lowers the scores of boxes by how much better ones of their class overlap them, all at once.
// Spec: operation-sets/operation-specs/sort/matrix-non-max-suppression-8
#include "op/kit/detections.hpp"
#include "op/op.hpp"
#include "op/work.hpp"

namespace ovir::ops::matrix_nms {
namespace {

enum Input { boxes, scores };

using Attrs = DetectionAttrs;

void infer(InferContext& c) {
  c.require_rank(boxes, 3);
  c.require_rank(scores, 3);
  Dim images, classes, count;
  if (const auto& shape = c.shape(boxes); shape.has_rank()) {
    c.require(shape[2].contains(4), boxes, Code::E0506,
              "the last dim of input \"boxes\" of MatrixNms must be 4, but its shape is {}", to_string(shape));
    images = shape[0];
    count = shape[1];
  }
  if (const auto& shape = c.shape(scores); shape.has_rank()) {
    images = c.require_same_dim(images, shape[0], scores, "the batch of \"boxes\"", "that of \"scores\"");
    count = c.require_same_dim(count, shape[2], scores, "the number of boxes of \"boxes\"", "that of \"scores\"");
    classes = shape[1];
  }
  infer_detections(c, c.attrs<Attrs>(), images, classes, count);
}

/// Coordinates that aren't normalized are pixels, and a box includes its last one.
template <class T>
T overlap(const T* a, const T* b, bool normalized) {
  if (b[0] > a[2] || b[2] < a[0] || b[1] > a[3] || b[3] < a[1]) return 0;
  const T more = normalized ? 0 : 1;
  const auto area = [&](const T* x) {
    return x[2] < x[0] || x[3] < x[1] ? T(0) : (x[2] - x[0] + more) * (x[3] - x[1] + more);
  };
  const T common =
      (std::min(a[2], b[2]) - std::max(a[0], b[0]) + more) * (std::min(a[3], b[3]) - std::max(a[1], b[1]) + more);
  return common / (area(a) + area(b) - common);
}

/// Calls keep(box, decayed score) for the boxes of one class.
template <class T, class F>
void decay(const Attrs& a, const T* box, const T* score, i64 count, F keep) {
  std::vector<i64> order;
  for (i64 i = 0; i < count; ++i)
    if (score[i] > static_cast<T>(a.score_threshold)) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](i64 i, i64 j) { return score[i] > score[j]; });
  if (a.nms_top_k >= 0 && a.nms_top_k < std::ssize(order)) order.resize(a.nms_top_k);

  // X[i][j]: how much box i overlaps a better one, j; K[j]: the most that any better one overlaps j.
  spend(saturating_mul(8 * std::ssize(order), std::ssize(order)));
  std::vector<T> K(order.size(), T(0)), row;
  for (std::size_t i = 0; i < order.size(); ++i) {
    row.clear();
    for (std::size_t j = 0; j < i; ++j) row.push_back(overlap(box + order[i] * 4, box + order[j] * 4, a.normalized));
    T min_factor = 1;
    for (std::size_t j = 0; j < i; ++j) {
      K[i] = std::max(K[i], row[j]);
      const T factor = a.decay_function == Decay::gaussian
                           ? std::exp((K[j] * K[j] - row[j] * row[j]) * static_cast<T>(a.gaussian_sigma))
                           : (1 - row[j]) / (1 - K[j] + static_cast<T>(1e-10));
      min_factor = std::min(min_factor, factor);
    }
    const T decayed = min_factor * score[order[i]];
    if (decayed > static_cast<T>(a.post_threshold)) keep(order[i], decayed);
  }
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& coordinates = c.in(boxes);
  const auto& all_scores = c.in(scores);
  const auto images = all_scores.dim(0), classes = all_scores.dim(1), count = all_scores.dim(2);
  std::vector<Detection> all;
  std::vector<i64> counts;
  dispatch(coordinates.type(), Floats{}, [&]<class T>() {
    for (i64 n = 0; n < images; ++n) {
      const T* box = coordinates.data<T>() + n * count * 4;
      std::vector<Detection> of_image;
      for (i64 k = 0; k < classes; ++k) {
        if (k == a.background_class) continue;
        decay<T>(a, box, all_scores.data<T>() + (n * classes + k) * count, count, [&](i64 i, T score) {
          Detection d{n, k, i, n * count + i, static_cast<double>(score), {}};
          std::copy_n(box + i * 4, 4, d.corners);
          of_image.push_back(d);
        });
      }
      keep_best(of_image, a);
      counts.push_back(std::ssize(of_image));
      all.insert(all.end(), of_image.begin(), of_image.end());
    }
  });
  put_detections(c, a, std::move(all), counts);
}

constexpr TypeVar T{"T", kFloat}, TIndices{"T_IND", kIndex};
constexpr PortDef kInputs[] = {{"boxes", T}, {"scores", T}};
constexpr PortDef kOutputs[] = {{"selected_outputs", T}, {"selected_indices", TIndices}, {"selected_num", TIndices}};
constexpr auto kAttrs =
    kDetectionAttrs<Attr<"decay_function", &Attrs::decay_function>, Attr<"gaussian_sigma", &Attrs::gaussian_sigma>,
                    Attr<"post_threshold", &Attrs::post_threshold>>;
constexpr Version kVersions[] = {
    {.since = 8,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kAttrs,
     .infer = infer,
     .sized_by_data = true,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "MatrixNms", .spec = "sort/matrix-non-max-suppression", .versions = kVersions};

}  // namespace ovir::ops::matrix_nms
