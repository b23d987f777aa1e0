// What NonMaxSuppression and NMSRotated share: boxes and scores in, selected indices and scores out.
#pragma once
#include "op/op.hpp"

namespace ovir::ops::sort {

enum Input { boxes, scores, max_output_boxes_per_class, iou_threshold, score_threshold, soft_nms_sigma };
enum Output { selected_indices, selected_scores, valid_outputs };

/// The demands on boxes, of `numbers` numbers which `words` are, and on all other inputs; how many of what there are.
struct Counts {
  Dim batches, classes, boxes;
};
Counts infer_boxes(InferContext& c, ElementType output_type, i64 numbers, std::string_view words);
void output_selected(InferContext& c, ElementType output_type, const Dim& rows);

struct SelectedBox {
  i64 batch, label, box;
  double score;
};
/// Best first, across the classes and batches.
void sort_selected(std::pmr::vector<SelectedBox>& selected);
/// Indices in `rows` rows, those that are left filled with -1; scores and the number of rows where they are outputs.
void put_selected(EvalContext& c, const std::pmr::vector<SelectedBox>& selected, i64 rows);

inline constexpr TypeVar T{"T", kFloat}, TMaxBoxes{"T_MAX_BOXES", kInteger}, TThreshold{"T_THRESHOLDS", kFloat},
    TIndex{"T_IND", kIndex};
inline constexpr PortDef kSelected[] = {
    {"selected_indices", TIndex}, {"selected_scores", TThreshold}, {"valid_outputs", TIndex}};

}  // namespace ovir::ops::sort
