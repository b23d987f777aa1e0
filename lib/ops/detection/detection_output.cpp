// DetectionOutput: decodes boxes from priors and offsets, and keeps the best of those that overlap.
// Spec: operation-sets/operation-specs/detection/detectionoutput-1, detectionoutput-8
#include "ops/detection/common.hpp"

namespace ovir::ops::detection_output {
enum class Code : std::uint8_t { corner, center_size };
}  // namespace ovir::ops::detection_output

template <>
struct ovir::EnumNames<ovir::ops::detection_output::Code> {
  using Code = ovir::ops::detection_output::Code;
  static constexpr std::pair<std::string_view, Code> table[] = {{"caffe.PriorBoxParameter.CORNER", Code::corner}, {"caffe.PriorBoxParameter.CENTER_SIZE", Code::center_size}};
};

namespace ovir::ops::detection_output {
namespace {

enum Input { box_logits, class_preds, proposals, aux_class_preds, aux_box_preds };

struct Attrs {
  std::int64_t num_classes = -1;  // version 8 derives it
  std::int64_t background_label_id = 0, top_k = -1, input_height = 1, input_width = 1;
  std::vector<std::int64_t> keep_top_k;
  bool variance_encoded_in_target = false, share_location = true, clip_after_nms = false, clip_before_nms = false, decrease_label_id = false, normalized = false;
  Code code_type = Code::corner;
  float nms_threshold = 0, confidence_threshold = 0, objectness_score = 0;
  float eta = 1;
  std::string visualize;  // of Caffe; no effect
};

/// `dim` divided by `by`, which must go evenly. An unknown dim gives nothing.
std::optional<std::int64_t> parts(const InferContext& c, int port, std::int64_t axis, std::int64_t by, std::string_view what) {
  if (!c.shape(port).has_rank() || !c.shape(port)[axis].is_static()) return std::nullopt;
  const auto length = c.shape(port)[axis].length();
  c.require(by > 0 && length % by == 0, port, ovir::Code::E0506, "dim {} of {} of DetectionOutput must be a multiple of {}{}, but its shape is {}", axis, c.port_name(port), what, by, to_string(c.shape(port)));
  return length / by;
}

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  const bool refined = c.input_count() > aux_class_preds;
  if (c.input_count() == 4) fail(ovir::Code::E0501, "DetectionOutput takes 3 or 5 inputs, but 4 are connected");
  c.require_attr(a.keep_top_k.size() == 1, "keep_top_k", "it must have one element, not {}", a.keep_top_k.size());
  c.require_attr(a.num_classes == -1 || a.num_classes > 0, "num_classes", "{} is not positive", a.num_classes);
  c.require_attr(a.input_height > 0 && a.input_width > 0, a.input_height > 0 ? "input_width" : "input_height", "it must be positive");
  for (int port = 0; port < c.input_count(); ++port) c.require_rank(port, port == proposals ? 3 : 2);

  const std::int64_t prior_size = a.normalized ? 4 : 5;
  auto priors = parts(c, proposals, 2, prior_size, "the size of a prior, ");
  if (!priors && refined) priors = parts(c, aux_class_preds, 1, 2, "");
  std::optional<std::int64_t> classes;
  if (a.num_classes > 0) classes = a.num_classes;
  if (!classes && priors) classes = parts(c, class_preds, 1, *priors, "the number of priors, ");
  if (!classes && priors && !a.share_location) classes = parts(c, box_logits, 1, *priors * 4, "the number of priors by 4, ");
  if (!priors && (a.share_location || classes)) priors = parts(c, box_logits, 1, a.share_location ? 4 : *classes * 4, "the number of classes by 4, ");
  if (!priors && classes) priors = parts(c, class_preds, 1, *classes, "the number of classes, ");

  Dim images;
  const auto matrix = [&](int port, std::optional<std::int64_t> columns, std::string_view what) {
    const auto& shape = c.shape(port);
    if (!shape.has_rank()) return;
    images = c.require_same_dim(images, shape[0], port, "batches of the inputs");
    if (columns) c.require(shape[1].contains(*columns), port, ovir::Code::E0506, "{} of DetectionOutput must have {} columns ({}), but its shape is {}", c.port_name(port), *columns, what, to_string(shape));
  };
  const auto times = [](std::optional<std::int64_t> x, std::optional<std::int64_t> y, std::int64_t z) { return x && y ? std::optional(*x * *y * z) : std::nullopt; };
  const auto located = a.share_location ? std::optional<std::int64_t>(1) : classes;
  matrix(box_logits, times(priors, located, 4), "4 for each prior and located class");
  matrix(class_preds, times(priors, classes, 1), "one for each prior and class");
  if (refined) {
    matrix(aux_class_preds, times(priors, 1, 2), "2 for each prior");
    matrix(aux_box_preds, times(priors, located, 4), "4 for each prior and located class");
  }
  if (const auto& shape = c.shape(proposals); shape.has_rank()) {
    c.require(shape[0].contains(1) || shape[0].compatible(images), proposals, ovir::Code::E0506, "proposals of DetectionOutput must come once or for each of {} images, but their shape is {}", to_string(images), to_string(shape));
    c.require(shape[1].contains(a.variance_encoded_in_target ? 1 : 2), proposals, ovir::Code::E0506, "proposals of DetectionOutput must have {} in dim 1 as variance_encoded_in_target is {}, but their shape is {}",
              a.variance_encoded_in_target ? 1 : 2, a.variance_encoded_in_target, to_string(shape));
  }

  const auto known = [](std::optional<std::int64_t> n) { return n ? Dim(*n) : Dim(); };
  auto rows = images * known(priors) * known(classes);
  if (a.keep_top_k[0] > 0) rows = images * Dim(a.keep_top_k[0]);
  else if (a.keep_top_k[0] == -1 && a.top_k > 0) rows = images * Dim(a.top_k) * known(classes);
  c.output(0, PartialShape{Dim(1), Dim(1), rows, Dim(7)});
}

template <class T>
using Box = detection::Box<T>;

template <class T>
struct Detector {
  const Attrs& a;
  std::int64_t priors, classes, located;
  std::int64_t prior_size = a.normalized ? 4 : 5;

  static Box<T> clipped(const Box<T>& b) {
    const auto cut = [](T v) { return std::clamp<T>(v, 0, 1); };
    return {cut(b.x1), cut(b.y1), cut(b.x2), cut(b.y2)};
  }

  /// The box that `offset` makes of a prior. "If flag is false then it is necessary to adjust the predicted offset".
  Box<T> decode(const Box<T>& prior, const T* variance, const T* offset) const {
    Box<T> p = prior;
    if (!a.normalized) {
      const auto w = static_cast<T>(a.input_width), h = static_cast<T>(a.input_height);
      p = {p.x1 / w, p.y1 / h, p.x2 / w, p.y2 / h};
    }
    T d[4];
    for (int i = 0; i < 4; ++i) d[i] = variance ? variance[i] * offset[i] : offset[i];
    Box<T> b{p.x1 + d[0], p.y1 + d[1], p.x2 + d[2], p.y2 + d[3]};
    if (a.code_type == Code::center_size) {
      const T x = d[0] * p.width() + (p.x1 + p.x2) / 2, y = d[1] * p.height() + (p.y1 + p.y2) / 2;
      const T w = std::exp(d[2]) * p.width(), h = std::exp(d[3]) * p.height();
      b = {x - w / 2, y - h / 2, x + w / 2, y + h / 2};
    }
    return a.clip_before_nms ? clipped(b) : b;
  }

  /// Boxes of one image by located class and prior; `refined`: offsets that correct the priors first.
  std::vector<std::vector<Box<T>>> boxes(const T* offsets, const T* prior, const T* refined) const {
    std::vector<std::vector<Box<T>>> all(static_cast<std::size_t>(located));
    const T* variances = a.variance_encoded_in_target ? nullptr : prior + priors * prior_size;
    for (std::int64_t p = 0; p < priors; ++p) {
      const T* at = prior + p * prior_size + (a.normalized ? 0 : 1);  // an image number comes first
      const T* variance = variances ? variances + p * 4 : nullptr;
      for (std::int64_t k = 0; k < located; ++k) {
        Box<T> box{at[0], at[1], at[2], at[3]};
        const auto offset = (p * located + k) * 4;
        if (refined) box = decode(box, variance, refined + offset);
        all[static_cast<std::size_t>(k)].push_back(decode(box, variance, offsets + offset));
      }
    }
    return all;
  }

  static T area(const Box<T>& b) { return b.x2 < b.x1 || b.y2 < b.y1 ? 0 : b.width() * b.height(); }
  static T overlap(const Box<T>& a, const Box<T>& b) {
    const Box<T> common{std::max(a.x1, b.x1), std::max(a.y1, b.y1), std::min(a.x2, b.x2), std::min(a.y2, b.y2)};
    if (common.width() <= 0 || common.height() <= 0) return 0;
    const T both = common.width() * common.height();
    return both / (area(a) + area(b) - both);
  }

  struct Found {
    T score;
    std::int64_t label, prior;
  };

  void best_first(std::vector<Found>& found, std::int64_t most) const {
    std::stable_sort(found.begin(), found.end(), [](const Found& x, const Found& y) { return x.score > y.score || (x.score == y.score && x.prior < y.prior); });
    if (most > -1 && static_cast<std::size_t>(most) < found.size()) found.resize(static_cast<std::size_t>(most));
  }

  /// Of candidates, best first, those that no better one of their class overlaps too much.
  void suppress(const std::vector<Found>& candidates, const std::vector<std::vector<Box<T>>>& boxes, std::vector<Found>& kept) const {
    const auto first = kept.size();
    for (const auto& candidate : candidates) {
      const auto& of_class = boxes[a.share_location ? 0 : static_cast<std::size_t>(candidate.label)];
      const auto box = [&](const Found& f) { return of_class[static_cast<std::size_t>(f.prior)]; };
      const bool free = std::none_of(kept.begin() + static_cast<std::ptrdiff_t>(first), kept.end(), [&](const Found& other) {
        return other.label == candidate.label && overlap(box(candidate), box(other)) > static_cast<T>(a.nms_threshold);
      });
      if (free) kept.push_back(candidate);
    }
  }

  template <class Score>
  std::vector<Found> detect(const std::vector<std::vector<Box<T>>>& boxes, Score score) const {
    std::vector<Found> kept;
    if (a.decrease_label_id) {  // "like in Apache MxNet": every prior competes with its best class
      std::vector<Found> candidates;
      for (std::int64_t p = 0; p < priors; ++p) {
        Found best{-1, 0, p};
        for (std::int64_t k = 1; k < classes; ++k)
          if (k != a.background_label_id && score(p, k) > best.score) best = {score(p, k), k, p};
        if (best.label > 0 && best.score >= static_cast<T>(a.confidence_threshold)) candidates.push_back(best);
      }
      best_first(candidates, a.top_k);
      suppress(candidates, boxes, kept);
      std::stable_sort(kept.begin(), kept.end(), [](const Found& x, const Found& y) { return x.label < y.label; });
    } else {  // "like in Caffe": class by class
      for (std::int64_t k = 0; k < classes; ++k) {
        if (k == a.background_label_id) continue;
        std::vector<Found> candidates;
        for (std::int64_t p = 0; p < priors; ++p)
          if (score(p, k) > static_cast<T>(a.confidence_threshold)) candidates.push_back({score(p, k), k, p});
        best_first(candidates, a.top_k);
        suppress(candidates, boxes, kept);
      }
    }
    if (a.keep_top_k[0] > -1 && kept.size() > static_cast<std::size_t>(a.keep_top_k[0])) {
      best_first(kept, a.keep_top_k[0]);
      std::stable_sort(kept.begin(), kept.end(), [](const Found& x, const Found& y) { return x.label < y.label; });
    }
    return kept;
  }
};

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& offsets = c.in(box_logits);
  const auto& scores = c.in(class_preds);
  const auto& prior = c.in(proposals);
  const auto images = offsets.dim(0), priors = prior.dim(2) / (a.normalized ? 4 : 5);
  const auto classes = a.num_classes > 0 ? a.num_classes : priors == 0 ? 0 : scores.dim(1) / priors;
  auto& out = c.out(0);
  dispatch(out.type(), Reals{}, [&]<class T>() {
    const Detector<T> detector{a, priors, classes, a.share_location ? 1 : classes};
    auto rows = out.mutable_values<T>();
    std::fill(rows.begin(), rows.end(), T(0));
    std::size_t row = 0;
    for (std::int64_t n = 0; n < images; ++n) {
      const bool refined = c.has(aux_box_preds);
      const auto boxes = detector.boxes(offsets.data<T>() + n * offsets.dim(1), prior.data<T>() + (prior.dim(0) == 1 ? 0 : n) * prior.dim(1) * prior.dim(2),
                                        refined ? c.in(aux_box_preds).data<T>() + n * offsets.dim(1) : nullptr);
      const T* objectness = refined ? c.in(aux_class_preds).data<T>() + n * priors * 2 : nullptr;
      const T* confidence = scores.data<T>() + n * priors * classes;
      const auto found = detector.detect(boxes, [&](std::int64_t p, std::int64_t k) {
        // Where no object is likely, all is background.
        if (objectness && objectness[p * 2 + 1] < static_cast<T>(a.objectness_score)) return k == a.background_label_id ? T(1) : T(0);
        return confidence[p * classes + k];
      });
      for (const auto& f : found) {
        if ((row + 1) * 7 > rows.size()) return;
        auto box = boxes[a.share_location ? 0 : static_cast<std::size_t>(f.label)][static_cast<std::size_t>(f.prior)];
        if (a.clip_after_nms) box = Detector<T>::clipped(box);
        const T values[] = {static_cast<T>(n), static_cast<T>(a.decrease_label_id ? f.label - 1 : f.label), f.score, box.x1, box.y1, box.x2, box.y2};
        std::copy(std::begin(values), std::end(values), rows.begin() + static_cast<std::ptrdiff_t>(row++ * 7));
      }
    }
    // "The first tuple with batch_id equal to -1 means end of output."
    if (row * 7 < rows.size()) rows[row * 7] = T(-1);
  });
}

constexpr TypeVar T{"T", kFloat};
constexpr PortDef kInputs[] = {{"box_logits", T}, {"class_preds", T}, {"proposals", T}, {"aux_class_preds", T, Arity::optional}, {"aux_box_preds", T, Arity::optional}};
constexpr PortDef kOutputs[] = {{"output", T}};
template <class... More>
constexpr auto kAttrs = attributes<
    Attrs, More..., Attr<"background_label_id", &Attrs::background_label_id>, Attr<"top_k", &Attrs::top_k>,
    Attr<"variance_encoded_in_target", &Attrs::variance_encoded_in_target>, Attr<"keep_top_k", &Attrs::keep_top_k, kRequired>, Attr<"code_type", &Attrs::code_type>,
    Attr<"share_location", &Attrs::share_location>, Attr<"nms_threshold", &Attrs::nms_threshold, kRequired>, Attr<"confidence_threshold", &Attrs::confidence_threshold>,
    Attr<"clip_after_nms", &Attrs::clip_after_nms>, Attr<"clip_before_nms", &Attrs::clip_before_nms>, Attr<"decrease_label_id", &Attrs::decrease_label_id>,
    Attr<"normalized", &Attrs::normalized>, Attr<"input_height", &Attrs::input_height>, Attr<"input_width", &Attrs::input_width>,
    Attr<"objectness_score", &Attrs::objectness_score>>;
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kAttrs<Attr<"num_classes", &Attrs::num_classes, kRequired>, Attr<"eta", &Attrs::eta>, Attr<"visualize", &Attrs::visualize>>,
     .infer = infer,
     .eval = eval},
    {.since = 8, .inputs = kInputs, .outputs = kOutputs, .attrs = kAttrs<>, .infer = infer, .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "DetectionOutput", .versions = kVersions};

}  // namespace ovir::ops::detection_output
