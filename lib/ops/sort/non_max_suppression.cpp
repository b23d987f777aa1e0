// NonMaxSuppression: of boxes that overlap, the one with the highest score.
// Spec: operation-sets/operation-specs/sort/no-max-suppression-1, -3, -4, -5, -9
#include "ops/sort/common.hpp"

namespace ovir::ops::non_max_suppression {
namespace {

enum class Encoding : std::uint8_t { corner, center };
constexpr auto words(Encoding) {
  return std::to_array<Word<Encoding>>({{"corner", Encoding::corner}, {"center", Encoding::center}});
}

using namespace sort;

struct Attrs {
  Encoding box_encoding = Encoding::corner;
  bool sort_result_descending = true;
  ElementType output_type = ElementType::i64;
};

Dim lesser(const Dim& a, const Dim& b) { return Dim(std::min(a.min, b.min), std::min(a.max, b.max)); }

/// Rows of the output in versions 1 to 4, which fill it up with -1: only version 4 made room for whatever may be
/// selected.
Dim rows_of(int version, const Counts& n, i64 max_boxes) {
  return version < 4 ? lesser(n.boxes, Dim(max_boxes) * n.classes)
                     : lesser(n.boxes, Dim(max_boxes)) * n.batches * n.classes;
}

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto counts = infer_boxes(c, a.output_type, 4, "4 numbers each");
  const auto given =
      c.has(max_output_boxes_per_class) ? c.scalar_int(max_output_boxes_per_class) : std::optional<i64>(0);
  const auto max_boxes = given ? std::optional(std::max<i64>(0, *given)) : std::nullopt;
  const auto version = c.version().since;
  if (version < 5) return output_selected(c, a.output_type, max_boxes ? rows_of(version, counts, *max_boxes) : Dim());
  output_selected(c, a.output_type, Dim(0, rows_of(version, counts, max_boxes.value_or(Dim::kUnbounded)).max));
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

struct Limits {
  i64 max_boxes;
  double overlap, score, sigma;
  bool cut;  ///< soft suppression drops what overlaps too much, too: version 5 does, version 9 doesn't
};

/// Steps 1 to 8 of the specification for one class: numbers and scores of the boxes that are kept.
template <class T>
std::vector<std::pair<i64, T>> select(const std::vector<Box<T>>& all, const T* score, const Limits& limits) {
  std::vector<std::pair<i64, T>> candidates, kept;
  const auto min_score = static_cast<T>(limits.score), max_overlap = static_cast<T>(limits.overlap);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (score[i] >= min_score) candidates.emplace_back(static_cast<i64>(i), score[i]);
  const auto better = [](const auto& x, const auto& y) {
    return x.second > y.second || (x.second == y.second && x.first < y.first);
  };
  const auto box = [&](const auto& candidate) -> const Box<T>& { return all[candidate.first]; };
  if (limits.sigma <= 0) {
    std::sort(candidates.begin(), candidates.end(), better);
    for (const auto& candidate : candidates) {
      if (std::ssize(kept) >= limits.max_boxes) break;
      if (std::all_of(kept.begin(), kept.end(),
                      [&](const auto& k) { return overlap(box(candidate), box(k)) <= max_overlap; }))
        kept.push_back(candidate);
    }
    return kept;
  }
  while (!candidates.empty() && std::ssize(kept) < limits.max_boxes) {
    const auto best = std::min_element(candidates.begin(), candidates.end(), better);
    kept.push_back(*best);
    candidates.erase(best);
    std::erase_if(candidates, [&](auto& candidate) {
      const T iou = overlap(box(candidate), box(kept.back()));
      candidate.second *= std::exp(static_cast<T>(-0.5) * iou * iou / static_cast<T>(limits.sigma));
      return candidate.second < min_score || (limits.cut && iou > max_overlap);
    });
  }
  return kept;
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& coordinates = c.in(boxes);
  const auto& all_scores = c.in(scores);
  const auto batches = all_scores.dim(0), classes = all_scores.dim(1), count = all_scores.dim(2);
  const auto number = [&](int port) { return c.has(port) ? c.floats(port).at(0) : 0.0; };
  const auto max_boxes =
      c.has(max_output_boxes_per_class) ? std::max<i64>(0, c.scalar_int(max_output_boxes_per_class)) : 0;
  const Limits limits{max_boxes, number(iou_threshold), number(score_threshold), number(soft_nms_sigma),
                      c.version().since == 5};
  std::vector<SelectedBox> selected;
  dispatch(coordinates.type(), Floats{}, [&]<class T>() {
    for (i64 n = 0; n < batches; ++n) {
      std::vector<Box<T>> all;
      for (i64 i = 0; i < count; ++i)
        all.push_back(box_of(coordinates.data<T>() + (n * count + i) * 4, a.box_encoding));
      for (i64 k = 0; k < classes; ++k)
        for (const auto& [i, score] : select(all, all_scores.data<T>() + (n * classes + k) * count, limits))
          selected.push_back({n, k, i, static_cast<double>(score)});
    }
  });
  if (a.sort_result_descending) sort_selected(selected);
  auto rows = std::ssize(selected);
  if (c.version().since < 5) {
    rows = rows_of(c.version().since, {batches, classes, count}, max_boxes).length();
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
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kAttrs1,
     .infer = infer,
     .reads = ports(max_output_boxes_per_class),
     .eval = eval},
    {.since = 3,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kAttrs3,
     .infer = infer,
     .reads = ports(max_output_boxes_per_class),
     .eval = eval},
    {.since = 4,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = kAttrs3,
     .infer = infer,
     .reads = ports(max_output_boxes_per_class),
     .eval = eval},
    {.since = 5,
     .spec = "sort/no-max-suppression-5",
     .inputs = kInputs5,
     .outputs = kSelected,
     .attrs = kAttrs3,
     .infer = infer,
     .reads = ports(max_output_boxes_per_class),
     .sized_by_data = true,
     .eval = eval},
    {.since = 9,
     .inputs = kInputs5,
     .outputs = kSelected,
     .attrs = kAttrs3,
     .infer = infer,
     .reads = ports(max_output_boxes_per_class),
     .sized_by_data = true,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{
    .type = "NonMaxSuppression", .spec = "sort/non-max-suppression", .versions = kVersions};

}  // namespace ovir::ops::non_max_suppression
