#include "pattern_examples.hpp"

namespace ovir::testing::patterns::detections {
namespace {

/// Boxes of a width and height around 1, mostly overlapping some others; many scores are alike.
std::vector<int> inputs(Net& n, i64 images, i64 classes, i64 count) {
  const auto ordered = n.op("Add-1", {n.input({images, count, 4}), n.numbers({0, 0, 1, 1}, {4})});
  const auto spread = n.op("Multiply-1", {ordered, n.numbers({3, 3, 1, 1}, {4})});
  const auto corners =
      n.op("Concat-1", {n.op("Minimum-1", {spread, ordered}), n.op("Maximum-1", {spread, ordered})}, {{"axis", "1"}});
  const auto scores = n.input({images, classes, 2 * count});
  return {corners, scores};
}
void detected(Net& n, std::string_view operation, const std::vector<int>& in, const Texts& texts) {
  const auto best = n.op(operation, in, texts, 3);
  for (const auto port : {0, 1, 2}) n.result(best, port);
}

void multiclass(Net& n) {
  detected(n, "MulticlassNms-9", inputs(n, 2, 4, 40),
           {{"iou_threshold", "0.4"}, {"score_threshold", "0.05"}, {"nms_top_k", "30"}, {"keep_top_k", "25"}});
}
void multiclass_all(Net& n) {
  detected(n, "MulticlassNms-8", inputs(n, 3, 3, 30),
           {{"iou_threshold", "0.5"},
            {"score_threshold", "-1"},
            {"background_class", "1"},
            {"sort_result_type", "classid"},
            {"output_type", "i32"},
            {"normalized", "false"}});
}
void multiclass_falling(Net& n) {
  detected(n, "MulticlassNms-9", inputs(n, 2, 3, 50),
           {{"iou_threshold", "0.9"},
            {"nms_eta", "0.8"},
            {"keep_top_k", "40"},
            {"sort_result_type", "score"},
            {"sort_result_across_batch", "true"}});
}
void multiclass_none(Net& n) {
  detected(n, "MulticlassNms-9", inputs(n, 2, 3, 10), {{"score_threshold", "0.9"}, {"keep_top_k", "5"}});
}
void multiclass_boxes_alone(Net& n) {
  n.result(n.op("MulticlassNms-8", inputs(n, 2, 5, 20),
                {{"iou_threshold", "0.3"}, {"sort_result_type", "classid"}, {"sort_result_across_batch", "true"}}, 3));
}
void matrix(Net& n) {
  detected(n, "MatrixNms-8", inputs(n, 2, 4, 40),
           {{"score_threshold", "0.05"}, {"post_threshold", "0.02"}, {"nms_top_k", "40"}, {"keep_top_k", "25"}});
}
void matrix_gaussian(Net& n) {
  detected(n, "MatrixNms-8", inputs(n, 2, 4, 40),
           {{"decay_function", "gaussian"},
            {"keep_top_k", "30"},
            {"normalized", "false"},
            {"background_class", "0"},
            {"sort_result_type", "score"},
            {"sort_result_across_batch", "true"}});
}
void matrix_all(Net& n) {
  detected(n, "MatrixNms-8", inputs(n, 1, 3, 30),
           {{"score_threshold", "-0.3"},
            {"post_threshold", "-0.2"},
            {"keep_top_k", "80"},
            {"sort_result_type", "classid"},
            {"sort_result_across_batch", "true"},
            {"output_type", "i32"}});
}

// clang-format off
constexpr Example kExamples[] = {
    {"multiclass_nms", multiclass},
    {"multiclass_nms", multiclass, kOnce, kOpen},
    {"multiclass_nms", multiclass_all},
    {"multiclass_nms", multiclass_falling},
    {"multiclass_nms", multiclass_none},
    {"multiclass_nms", multiclass_boxes_alone},
    {"matrix_nms", matrix},
    {"matrix_nms", matrix, kOnce, kOpen},
    {"matrix_nms", matrix_gaussian},
    {"matrix_nms", matrix_all},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"detections", kExamples};

}  // namespace ovir::testing::patterns::detections
