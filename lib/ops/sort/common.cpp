#include "ops/sort/common.hpp"

#include <tuple>

namespace ovir::ops::sort {

Counts infer_boxes(InferContext& c, ElementType output_type, i64 numbers, std::string_view words) {
  c.require_index_type(output_type, "output_type");
  c.require_rank(boxes, 3);
  c.require_rank(scores, 3);
  for (int port = max_output_boxes_per_class; port < c.input_count(); ++port) c.require_single(port);
  Counts counts;
  if (const auto& shape = c.shape(boxes); shape.has_rank()) {
    c.require(shape[2].contains(numbers), boxes, Code::E0506, "input \"boxes\" of {} must hold {}, but its shape is {}",
              c.op().type, words, to_string(shape));
    counts.batches = shape[0];
    counts.boxes = shape[1];
  }
  if (const auto& shape = c.shape(scores); shape.has_rank()) {
    counts.batches =
        c.require_same_dim(counts.batches, shape[0], scores, "the batch of \"boxes\"", "that of \"scores\"");
    counts.boxes =
        c.require_same_dim(counts.boxes, shape[2], scores, "the number of boxes of \"boxes\"", "that of \"scores\"");
    counts.classes = shape[1];
  }
  return counts;
}

void output_selected(InferContext& c, ElementType output_type, const Dim& rows) {
  c.output(selected_indices, output_type, PartialShape{rows, Dim(3)});
  if (c.output_count() > selected_scores) {
    const auto type = c.out(selected_scores).type;
    c.output(selected_scores, type == ElementType::dynamic && !c.has(iou_threshold) ? ElementType::f32 : type,
             PartialShape{rows, Dim(3)});
  }
  if (c.output_count() > valid_outputs) c.output(valid_outputs, output_type, PartialShape{Dim(1)});
}

void sort_selected(std::pmr::vector<SelectedBox>& selected) {
  const auto key = [](const SelectedBox& s) { return std::tuple(-s.score, s.batch, s.label, s.box); };
  std::sort(selected.begin(), selected.end(),
            [&](const SelectedBox& x, const SelectedBox& y) { return key(x) < key(y); });
}

void put_selected(EvalContext& c, const std::pmr::vector<SelectedBox>& selected, i64 rows) {
  auto& indices = c.out(selected_indices, {rows, 3});
  dispatch(indices.type(), Indices{}, [&]<class I>() {
    I* to = indices.mutable_data<I>();
    std::fill_n(to, indices.size(), I(-1));
    for (const auto& s : selected)
      for (const auto v : {s.batch, s.label, s.box}) *to++ = static_cast<I>(v);
    if (c.output_count() > valid_outputs) c.out(valid_outputs, {1}).mutable_data<I>()[0] = static_cast<I>(rows);
  });
  if (c.output_count() <= selected_scores) return;
  auto& values = c.out(selected_scores, {rows, 3});
  dispatch(values.type(), Floats{}, [&]<class E>() {
    E* to = values.mutable_data<E>();
    for (const auto& s : selected)
      for (const auto v : {static_cast<double>(s.batch), static_cast<double>(s.label), s.score})
        *to++ = static_cast<E>(v);
  });
}

}  // namespace ovir::ops::sort
