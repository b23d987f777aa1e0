// DetectionOutput: decodes boxes from their priors, suppresses the weaker of overlapping ones, lists what is left.
// Spec: operation-sets/operation-specs/detection/detectionoutput-8
#include <algorithm>
#include <limits>
#include <tuple>

#include "op/op.hpp"
#include "op/work.hpp"
#include "tensor/copy.hpp"

namespace ovir::ops::detection_output {
namespace {

enum class BoxCode : std::uint8_t { corner, center_size };
constexpr auto words(BoxCode) {
  return std::to_array<Word<BoxCode>>({{"caffe.PriorBoxParameter.CORNER", BoxCode::corner},
                                       {"caffe.PriorBoxParameter.CENTER_SIZE", BoxCode::center_size}});
}

enum Input { box_logits, class_preds, proposals, additional_class_preds, additional_box_preds };

struct Attrs {
  std::optional<i64> num_classes;  ///< version 8 counts them itself
  i64 background_label_id = 0, top_k = -1, input_height = 1, input_width = 1;
  std::vector<i64> keep_top_k;
  BoxCode code_type = BoxCode::corner;
  bool variance_encoded_in_target = false, share_location = true, clip_after_nms = false, clip_before_nms = false,
       decrease_label_id = false, normalized = false;
  float nms_threshold = 0, confidence_threshold = 0, objectness_score = 0;

  /// Numbers a prior takes: unnormalized ones begin with the image's number.
  i64 prior_size() const { return normalized ? 4 : 5; }
  i64 keep() const { return keep_top_k.empty() ? -1 : keep_top_k[0]; }
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  constexpr auto kLimit = i64{1} << 31;
  c.require_attr(!a.keep_top_k.empty(), "keep_top_k", "must hold a number, but is empty");
  c.require_attr(a.keep() < kLimit, "keep_top_k", "must be {1} or less, but is {0}", a.keep(), INT32_MAX);
  c.require_attr(a.top_k < kLimit, "top_k", "must be {1} or less, but is {0}", a.top_k, INT32_MAX);
  c.require_attr(a.normalized || (a.input_height > 0 && a.input_width > 0),
                 a.input_height > 0 ? "input_width" : "input_height", "must be positive where \"normalized\" is false");
  if (a.num_classes)
    c.require_attr(*a.num_classes > 0 && *a.num_classes < kLimit, "num_classes", "must be in 1..{1}, but is {0}",
                   *a.num_classes, INT32_MAX);
  c.require_rank(box_logits, 2);
  c.require_rank(class_preds, 2);
  c.require_rank(proposals, 3);
  c.require(c.input_count() != 4, additional_class_preds, Code::E0501,
            "DetectionOutput needs \"additional_box_preds\" where \"additional_class_preds\" is connected");

  auto batch = c.require_same_dim(c.shape(box_logits).dim(0), c.shape(class_preds).dim(0), class_preds,
                                  "the batch of \"box_logits\"", "that of \"class_preds\"");
  const auto prior_batch = c.shape(proposals).dim(0);
  if (prior_batch.min > 1)
    batch = c.require_same_dim(batch, prior_batch, proposals, "the batch of \"box_logits\"", "that of \"proposals\"");
  c.require(prior_batch.contains(1) || prior_batch.compatible(batch), proposals, Code::E0506,
            "the batch of \"proposals\" must be 1 or {}, but is {}", to_string(batch), to_string(prior_batch));
  c.require_same_dim(
      c.shape(proposals).dim(1), Dim(a.variance_encoded_in_target ? 1 : 2), proposals, "dim 1 of \"proposals\"",
      a.variance_encoded_in_target ? "1 (the variances are encoded in the target)" : "2 (priors and variances)");

  Dim priors;
  if (const auto d = c.shape(proposals).dim(2); d.is_static()) {
    c.require(d.length() % a.prior_size() == 0, proposals, Code::E0506,
              "input \"proposals\" of DetectionOutput must have a multiple of {1} values per row (the size of a "
              "prior), but has {0}",
              d.length(), a.prior_size());
    priors = Dim(d.length() / a.prior_size());
  }
  const auto scores = c.shape(class_preds).dim(1), logits = c.shape(box_logits).dim(1);
  Dim classes = a.num_classes ? Dim(*a.num_classes) : Dim();
  if (!priors.is_static() && a.share_location && logits.is_static()) {
    c.require(logits.length() % 4 == 0, box_logits, Code::E0506,
              "input \"box_logits\" of DetectionOutput must have a multiple of 4 values per row, but has {}",
              logits.length());
    priors = Dim(logits.length() / 4);
  }
  if (priors.is_static() && priors.length() > 0 && scores.is_static()) {
    c.require(scores.length() % priors.length() == 0, class_preds, Code::E0506,
              "input \"class_preds\" of DetectionOutput must have a multiple of {1} values per row (the number of "
              "priors), but has {0}",
              scores.length(), priors.length());
    classes = c.require_same_dim(classes, Dim(scores.length() / priors.length()), class_preds, "num_classes",
                                 "the values of \"class_preds\" per prior");
  } else {
    c.require_same_dim(scores, priors * classes, class_preds, "dim 1 of \"class_preds\"", "priors * classes");
  }
  c.require_same_dim(logits, priors * (a.share_location ? Dim(1) : classes) * Dim(4), box_logits,
                     "dim 1 of \"box_logits\"", "priors * location classes * 4");
  if (c.has(additional_box_preds)) {
    c.require_rank(additional_class_preds, 2);
    c.require_rank(additional_box_preds, 2);
    batch = c.require_same_dim(batch, c.shape(additional_class_preds).dim(0), additional_class_preds,
                               "the batch of \"box_logits\"", "that of \"additional_class_preds\"");
    batch = c.require_same_dim(batch, c.shape(additional_box_preds).dim(0), additional_box_preds,
                               "the batch of \"box_logits\"", "that of \"additional_box_preds\"");
    c.require_same_dim(c.shape(additional_class_preds).dim(1), priors * Dim(2), additional_class_preds,
                       "dim 1 of \"additional_class_preds\"", "2 * priors");
    c.require_same_dim(c.shape(additional_box_preds).dim(1), logits, additional_box_preds,
                       "dim 1 of \"additional_box_preds\"", "that of \"box_logits\"");
  }

  // keep_top_k decides, else top_k, else all there are.
  auto rows = batch * (scores.is_static() ? scores : priors * classes);
  if (a.keep() > 0) rows = batch * Dim(a.keep());
  else if (a.top_k > 0) rows = batch * Dim(a.top_k) * classes;
  c.output(0, {Dim(1), Dim(1), rows, Dim(7)});
}

template <class T>
struct Box {
  T x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  T area() const { return x2 < x1 || y2 < y1 ? T{} : (x2 - x1) * (y2 - y1); }
  void clip() {
    for (T* v : {&x1, &y1, &x2, &y2}) *v = std::max(T{0}, std::min(T{1}, *v));
  }
};

/// Some of the boxes that are kept of a class, coordinate by coordinate: compilers compare them all at once.
template <class T>
class Kept {
 public:
  static constexpr std::size_t kCount = 8;

  Kept() { std::fill_n(limit_, kCount, static_cast<T>(std::numeric_limits<float>::infinity())); }

  /// In the place of number `i`, of which others may overlap `limit`.
  void set(std::size_t i, const Box<T>& b, T area, T limit) {
    x1_[i] = b.x1;
    y1_[i] = b.y1;
    x2_[i] = b.x2;
    y2_[i] = b.y2;
    area_[i] = area;
    limit_[i] = limit;
  }

  bool overlap(const Box<T>& b, T area) const {
    // In two loops, for compilers do not vectorize what they may skip.
    T width[kCount], height[kCount], part[kCount];
    for (std::size_t i = 0; i < kCount; ++i) {
      const T x1 = x1_[i], y1 = y1_[i], x2 = x2_[i], y2 = y2_[i];
      width[i] = std::min(b.x2, x2) - std::max(b.x1, x1);
      height[i] = std::min(b.y2, y2) - std::max(b.y1, y1);
      const T both = width[i] * height[i];
      part[i] = both / (area + area_[i] - both);
    }
    int any = 0;
    for (std::size_t i = 0; i < kCount; ++i)
      any |= static_cast<int>((std::min(width[i], height[i]) > 0 ? part[i] : T{}) > limit_[i]);
    return any != 0;
  }

 private:
  T x1_[kCount]{}, y1_[kCount]{}, x2_[kCount]{}, y2_[kCount]{}, area_[kCount]{}, limit_[kCount];
};

struct Found {
  double score;
  i64 label, prior;
};
/// By falling score; of equal ones the earlier prior comes first, then the smaller label.
bool before(const Found& a, const Found& b) {
  return std::tuple(b.score, a.prior, a.label) < std::tuple(a.score, b.prior, b.label);
}

template <class T>
class Detector {
 public:
  explicit Detector(EvalContext& context)
      : c(context),
        a(c.attrs<Attrs>()),
        logits(c.in(box_logits)),
        scores(c.in(class_preds)),
        priors(c.in(proposals)),
        images(logits.dim(0)),
        count(priors.dim(2) / a.prior_size()),
        classes(count == 0 ? 0 : scores.dim(1) / count),
        locations(a.share_location ? 1 : classes) {
    if (priors.type() != logits.type()) {
      priors = c.scratch(logits.type(), priors.shape());
      convert_into(c.in(proposals), priors);
    }
    if (c.has(additional_box_preds)) {
      arm_scores = c.in(additional_class_preds).data<T>();
      arm_logits = c.in(additional_box_preds).data<T>();
    }
  }

  /// Writes at most `rows` rows of [image, label, score, x1, y1, x2, y2]; a -1 ends the list where it is shorter.
  void run(T* out, i64 rows) {
    i64 row = 0;
    for (i64 image = 0; image < images; ++image)
      for (auto& [f, box] : detect(image)) {
        if (row == rows) return;
        if (a.clip_after_nms) box.clip();
        const T values[] = {static_cast<T>(image),
                            static_cast<T>(a.decrease_label_id ? f.label - 1 : f.label),
                            static_cast<T>(f.score),
                            box.x1,
                            box.y1,
                            box.x2,
                            box.y2};
        std::copy_n(values, 7, out + row++ * 7);
      }
    if (row < rows) out[row * 7] = -1;
  }

 private:
  EvalContext& c;
  const Attrs& a;
  const Tensor &logits, &scores;
  Tensor priors;
  i64 images, count, classes, locations;
  const T *arm_scores = nullptr, *arm_logits = nullptr;

  struct Detection {
    Found what;
    Box<T> box;
  };

  T score(i64 image, i64 label, i64 prior) const {
    // A prior whose objectness is too low is background.
    if (arm_scores && arm_scores[(image * count + prior) * 2 + 1] < static_cast<T>(a.objectness_score))
      return label == a.background_label_id ? T{1} : T{0};
    return scores.data<T>()[(image * count + prior) * classes + label];
  }

  Box<T> decode(Box<T> prior, const T* variance, const T* delta) const {
    if (!a.normalized) {
      const auto width = static_cast<T>(a.input_width), height = static_cast<T>(a.input_height);
      prior = {prior.x1 / width, prior.y1 / height, prior.x2 / width, prior.y2 / height};
    }
    T d[4];
    for (std::size_t i = 0; i < 4; ++i) d[i] = variance ? variance[i] * delta[i] : delta[i];
    Box<T> box{prior.x1 + d[0], prior.y1 + d[1], prior.x2 + d[2], prior.y2 + d[3]};
    if (a.code_type == BoxCode::center_size) {
      const T width = prior.x2 - prior.x1, height = prior.y2 - prior.y1;
      const T x = d[0] * width + (prior.x1 + prior.x2) / 2, y = d[1] * height + (prior.y1 + prior.y2) / 2;
      const T half_width = std::exp(d[2]) * width / 2, half_height = std::exp(d[3]) * height / 2;
      box = {x - half_width, y - half_height, x + half_width, y + half_height};
    }
    if (a.clip_before_nms) box.clip();
    return box;
  }

  Box<T> box_of(i64 image, const Found& f) const {
    const auto size = a.prior_size();
    const auto* from = priors.data<T>() + (priors.dim(0) == 1 ? 0 : image) * priors.dim(1) * priors.dim(2);
    const T* corner = from + (f.prior + 1) * size - 4;
    const T* variance = a.variance_encoded_in_target ? nullptr : from + count * size + f.prior * 4;
    const auto delta = ((image * count + f.prior) * locations + (a.share_location ? 0 : f.label)) * 4;
    Box<T> prior{corner[0], corner[1], corner[2], corner[3]};
    // The additional predictions refine the priors first.
    if (arm_logits) prior = decode(prior, variance, arm_logits + delta);
    return decode(prior, variance, logits.data<T>() + delta);
  }

  std::pmr::vector<Detection> detect(i64 image) {
    std::pmr::vector<Found> candidates(c.memory());
    std::pmr::vector<Detection> found(c.memory());
    std::pmr::vector<Kept<T>> kept(c.memory());
    candidates.reserve(count);
    const auto suppress = [&] {
      if (a.top_k > -1 && std::ssize(candidates) > a.top_k) {
        std::nth_element(candidates.begin(), candidates.begin() + a.top_k, candidates.end(), before);
        candidates.resize(a.top_k);
      }
      std::sort(candidates.begin(), candidates.end(), [](const Found& x, const Found& y) {
        return x.label < y.label || (x.label == y.label && before(x, y));
      });
      i64 label = -1, first = 0;  // in `found`, of the class
      for (const auto& f : candidates) {
        if (f.label != label) {
          label = f.label;
          first = std::ssize(found);
          kept.clear();
        }
        const auto place = static_cast<std::size_t>(std::ssize(found) - first) % Kept<T>::kCount;
        constexpr i64 kOverlap = 4;
        spend(kOverlap * (std::ssize(found) - first));
        const auto box = box_of(image, f);
        const auto area = box.area();
        if (std::ranges::any_of(kept, [&](const auto& some) { return some.overlap(box, area); })) continue;
        if (place == 0) kept.emplace_back();
        kept.back().set(place, box, area, static_cast<T>(a.nms_threshold));
        found.push_back({f, box});
      }
      candidates.clear();
    };
    if (!a.decrease_label_id) {
      // "perform NMS like in Caffe": class by class
      for (i64 label = 0; label < classes; ++label) {
        if (label == a.background_label_id) continue;
        for (i64 p = 0; p < count; ++p)
          if (const auto s = score(image, label, p); s > static_cast<T>(a.confidence_threshold))
            candidates.push_back({static_cast<double>(s), label, p});
        suppress();
      }
    } else {
      // "like in Apache MxNet": each prior has only its best class
      for (i64 p = 0; p < count; ++p) {
        Found best{-1, 0, p};
        for (i64 label = 1; label < classes; ++label)
          if (const auto s = static_cast<double>(score(image, label, p));
              label != a.background_label_id && s > best.score)
            best = {s, label, p};
        if (best.label > 0 && best.score >= static_cast<double>(a.confidence_threshold)) candidates.push_back(best);
      }
      suppress();
    }
    if (a.keep() > -1 && std::ssize(found) > a.keep()) {
      std::sort(found.begin(), found.end(),
                [](const Detection& x, const Detection& y) { return before(x.what, y.what); });
      found.resize(a.keep());
    }
    std::sort(found.begin(), found.end(), [](const Detection& x, const Detection& y) {
      return x.what.label < y.what.label || (x.what.label == y.what.label && before(x.what, y.what));
    });
    return found;
  }
};

void eval(EvalContext& c) {
  auto& out = c.out(0);
  dispatch(out.type(), Floats{}, [&]<class T>() {
    std::fill_n(out.mutable_data<T>(), out.size(), T{});
    Detector<T>(c).run(out.mutable_data<T>(), out.dim(2));
  });
}

using A = Attrs;
// f16 files have the f32 proposals of PriorBox.
constexpr TypeVar T{"T", kFloat}, TProposals{"T_PROPOSALS", kFloat};
constexpr PortDef kInputs[] = {{"box_logits", T},
                               {"class_preds", T},
                               {"proposals", TProposals},
                               {"additional_class_preds", T, Arity::optional},
                               {"additional_box_preds", T, Arity::optional}};
constexpr PortDef kOutputs[] = {{"output", T}};
template <class... More>
constexpr auto kAttrs =
    attributes<A, Attr<"background_label_id", &A::background_label_id>, Attr<"top_k", &A::top_k>,
               Attr<"variance_encoded_in_target", &A::variance_encoded_in_target>,
               Attr<"keep_top_k", &A::keep_top_k, kRequired>, Attr<"code_type", &A::code_type>,
               Attr<"share_location", &A::share_location>, Attr<"nms_threshold", &A::nms_threshold, kRequired>,
               Attr<"confidence_threshold", &A::confidence_threshold>, Attr<"clip_after_nms", &A::clip_after_nms>,
               Attr<"clip_before_nms", &A::clip_before_nms>, Attr<"decrease_label_id", &A::decrease_label_id>,
               Attr<"normalized", &A::normalized>, Attr<"input_height", &A::input_height>,
               Attr<"input_width", &A::input_width>, Attr<"objectness_score", &A::objectness_score>, More...>;
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kAttrs<Attr<"num_classes", &A::num_classes, kRequired>>,
     .infer = infer,
     .eval = eval},
    {.since = 8, .inputs = kInputs, .outputs = kOutputs, .attrs = kAttrs<>, .infer = infer, .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "DetectionOutput", .spec = "detection/detectionoutput", .versions = kVersions};

}  // namespace ovir::ops::detection_output
