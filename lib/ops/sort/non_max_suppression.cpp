// NonMaxSuppression: of boxes that overlap, the one with the highest score.
// Spec: operation-sets/operation-specs/sort/no-max-suppression-1, -3, -4, -5, -9
#include "op/kit/line_attrs.hpp"
#include "op/work.hpp"
#include "ops/sort/common.hpp"

namespace ovir::ops::non_max_suppression {
namespace {

using Encoding = BoxEncoding;
using Attrs = NonMaxSuppressionAttrs;

using namespace sort;

Dim lesser(const Dim& a, const Dim& b) { return Dim(std::min(a.min, b.min), std::min(a.max, b.max)); }

Dim rows_of_one_batch(const Counts& n, i64 max_boxes) { return lesser(n.boxes, Dim(max_boxes) * n.classes); }
Dim rows_of_all(const Counts& n, i64 max_boxes) { return lesser(n.boxes, Dim(max_boxes)) * n.batches * n.classes; }

/// In what the versions differ.
struct Variant {
  Dim (*rows)(const Counts&, i64 max_boxes);  ///< room for what is selected
  bool filled = false;                        ///< the output has all these rows, those that are left are -1
  bool cut = false;                           ///< soft suppression drops what overlaps too much, too
};

void infer(InferContext& c, const Variant& variant) {
  const auto& a = c.attrs<Attrs>();
  const auto counts = infer_boxes(c, a.output_type, 4, "4 numbers for each box");
  const auto given =
      c.has(max_output_boxes_per_class) ? c.scalar_int(max_output_boxes_per_class) : std::optional<i64>(0);
  const auto max_boxes = given ? std::optional(std::max<i64>(0, *given)) : std::nullopt;
  if (variant.filled) output_selected(c, a.output_type, max_boxes ? variant.rows(counts, *max_boxes) : Dim());
  else output_selected(c, a.output_type, Dim(0, variant.rows(counts, max_boxes.value_or(Dim::kUnbounded)).max));
}

template <class T>
struct Box {
  T y1, x1, y2, x2;
};

/// "the coordinates of any diagonal pair of box corners", or "[x_center, y_center, width, height]".
template <class T>
Box<T> box_of(const T* v, Encoding encoding) {
  if (encoding == Encoding::center) return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
  return {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
}

template <class T>
T overlap(const Box<T>& a, const Box<T>& b) {
  const T area_a = (a.y2 - a.y1) * (a.x2 - a.x1), area_b = (b.y2 - b.y1) * (b.x2 - b.x1);
  if (!(area_a > 0) || !(area_b > 0)) return 0;
  const T common = std::max<T>(std::min(a.y2, b.y2) - std::max(a.y1, b.y1), 0) *
                   std::max<T>(std::min(a.x2, b.x2) - std::max(a.x1, b.x1), 0);
  return common / (area_a + area_b - common);
}

constexpr i64 kOverlap = 4;  ///< steps of one

struct Limits {
  i64 max_boxes;
  double overlap, score, sigma;
  bool cut;  ///< soft suppression drops what overlaps too much, too
};

/// Steps 1 to 8 of the specification for one class.
template <class T>
struct Selection {
  using Scored = std::pmr::vector<std::pair<i64, T>>;  ///< numbers and scores of boxes
  std::pmr::vector<Box<T>> all;                        ///< of an image
  Scored candidates, kept;

  explicit Selection(std::pmr::memory_resource* memory) : all(memory), candidates(memory), kept(memory) {}
  void select(const T* score, const Limits& limits);
};

template <class T>
void Selection<T>::select(const T* score, const Limits& limits) {
  candidates.clear();
  kept.clear();
  const auto min_score = static_cast<T>(limits.score), max_overlap = static_cast<T>(limits.overlap);
  for (i64 i = 0; i < std::ssize(all); ++i)
    if (score[i] >= min_score) candidates.emplace_back(i, score[i]);
  const auto better = [](const auto& x, const auto& y) {
    return x.second > y.second || (x.second == y.second && x.first < y.first);
  };
  const auto box = [&](const auto& candidate) -> const Box<T>& { return all[candidate.first]; };
  if (limits.sigma <= 0) {
    std::sort(candidates.begin(), candidates.end(), better);
    for (const auto& candidate : candidates) {
      if (std::ssize(kept) >= limits.max_boxes) break;
      spend(kOverlap * std::ssize(kept));
      if (std::all_of(kept.begin(), kept.end(),
                      [&](const auto& k) { return overlap(box(candidate), box(k)) <= max_overlap; }))
        kept.push_back(candidate);
    }
    return;
  }
  while (!candidates.empty() && std::ssize(kept) < limits.max_boxes) {
    spend(kOverlap * std::ssize(candidates));
    const auto best = std::min_element(candidates.begin(), candidates.end(), better);
    kept.push_back(*best);
    candidates.erase(best);
    std::erase_if(candidates, [&](auto& candidate) {
      const T iou = overlap(box(candidate), box(kept.back()));
      candidate.second *= std::exp(static_cast<T>(-0.5) * iou * iou / static_cast<T>(limits.sigma));
      return candidate.second < min_score || (limits.cut && iou > max_overlap);
    });
  }
}

void eval(EvalContext& c, const Variant& variant) {
  const auto& a = c.attrs<Attrs>();
  const auto& coordinates = c.in(boxes);
  const auto& all_scores = c.in(scores);
  const auto batches = all_scores.dim(0), classes = all_scores.dim(1), count = all_scores.dim(2);
  const auto number = [&](int port) { return c.has(port) ? c.floats(port).at(0) : 0.0; };
  const auto max_boxes =
      c.has(max_output_boxes_per_class) ? std::max<i64>(0, c.scalar_int(max_output_boxes_per_class)) : 0;
  const Limits limits{max_boxes, number(iou_threshold), number(score_threshold), number(soft_nms_sigma), variant.cut};
  std::pmr::vector<SelectedBox> selected(c.memory());
  dispatch(coordinates.type(), Floats{}, [&]<class T>() {
    Selection<T> s(c.memory());
    s.all.resize(count);
    s.candidates.reserve(count);
    for (i64 n = 0; n < batches; ++n) {
      for (i64 i = 0; i < count; ++i) s.all[i] = box_of(coordinates.data<T>() + (n * count + i) * 4, a.box_encoding);
      for (i64 k = 0; k < classes; ++k) {
        s.select(all_scores.data<T>() + (n * classes + k) * count, limits);
        for (const auto& [i, score] : s.kept) selected.push_back({n, k, i, static_cast<double>(score)});
      }
    }
  });
  if (a.sort_result_descending) sort_selected(selected);
  auto rows = std::ssize(selected);
  if (variant.filled) {
    rows = variant.rows({batches, classes, count}, max_boxes).length();
    if (std::ssize(selected) > rows) selected.resize(rows);
  }
  put_selected(c, selected, rows);
}

constexpr PortDef kInputs[] = {{"boxes", T},
                               {"scores", T},
                               {"max_output_boxes_per_class", TMaxBoxes, Arity::optional},
                               {"iou_threshold", TThreshold, Arity::optional},
                               {"score_threshold", TThreshold, Arity::optional}};
constexpr PortDef kInputs5[] = {{"boxes", T},
                                {"scores", T},
                                {"max_output_boxes_per_class", TMaxBoxes, Arity::optional},
                                {"iou_threshold", TThreshold, Arity::optional},
                                {"score_threshold", TThreshold, Arity::optional},
                                {"soft_nms_sigma", TThreshold, Arity::optional}};
constexpr PortDef kOutputs[] = {{"selected_indices", TIndex}};
constexpr auto kAttrs1 = attributes<Attrs, Attr<"box_encoding", &Attrs::box_encoding>,
                                    Attr<"sort_result_descending", &Attrs::sort_result_descending>>;
constexpr auto kAttrs3 = attributes<Attrs, Attr<"box_encoding", &Attrs::box_encoding>,
                                    Attr<"sort_result_descending", &Attrs::sort_result_descending>,
                                    Attr<"output_type", &Attrs::output_type>>;

constexpr Variant kOneBatch{.rows = rows_of_one_batch, .filled = true}, kFilled{.rows = rows_of_all, .filled = true},
    kCut{.rows = rows_of_all, .cut = true}, kSoft{.rows = rows_of_all};

template <const Variant& V>
consteval Version with(Version version) {
  version.infer = [](InferContext& c) { infer(c, V); };
  version.reads = ports(max_output_boxes_per_class);
  version.sized_by_data = !V.filled;
  version.eval = [](EvalContext& c) { eval(c, V); };
  return version;
}
constexpr Version kVersions[] = {
    with<kOneBatch>({.since = 1, .inputs = kInputs, .outputs = kOutputs, .attrs = kAttrs1}),
    with<kOneBatch>({.since = 3, .inputs = kInputs, .outputs = kOutputs, .attrs = kAttrs3}),
    with<kFilled>({.since = 4, .inputs = kInputs, .outputs = kOutputs, .attrs = kAttrs3}),
    with<kCut>(
        {.since = 5, .spec = "sort/no-max-suppression-5", .inputs = kInputs5, .outputs = kSelected, .attrs = kAttrs3}),
    with<kSoft>({.since = 9, .inputs = kInputs5, .outputs = kSelected, .attrs = kAttrs3}),
};

}  // namespace

extern constinit const OpDef def{
    .type = "NonMaxSuppression", .spec = "sort/non-max-suppression", .versions = kVersions};

}  // namespace ovir::ops::non_max_suppression
