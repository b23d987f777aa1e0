// Boxes that a suppression has kept, and the three outputs that MatrixNms and MulticlassNms make of them.
#pragma once
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "op/attributes.hpp"
#include "op/eval_context.hpp"
#include "op/infer_context.hpp"

namespace ovir {

enum class SortResult : std::uint8_t { classid, score, none };
constexpr auto words(SortResult) {
  return std::to_array<Word<SortResult>>({{"classid", SortResult::classid},
                                          {"class", SortResult::classid},
                                          {"score", SortResult::score},
                                          {"none", SortResult::none}});
}

enum class Decay : std::uint8_t { gaussian, linear };
constexpr auto words(Decay) {
  return std::to_array<Word<Decay>>({{"gaussian", Decay::gaussian}, {"linear", Decay::linear}});
}

struct DetectionAttrs {
  SortResult sort_result = SortResult::none;
  bool sort_result_across_batch = false, normalized = true;
  ElementType output_type = ElementType::i64;
  float score_threshold = 0;
  i64 nms_top_k = -1, keep_top_k = -1, background_class = -1;
  Decay decay_function = Decay::linear;  // MatrixNms, as are the next two
  float gaussian_sigma = 2, post_threshold = 0;
  float iou_threshold = 0, nms_eta = 1;  // MulticlassNms
};
/// What both have, and more. Files say sort_result_type where the specifications say sort_result.
template <class... More>
inline constexpr auto kDetectionAttrs =
    attributes<DetectionAttrs, Attr<"sort_result_type", &DetectionAttrs::sort_result>,
               Attr<"sort_result", &DetectionAttrs::sort_result>,
               Attr<"sort_result_across_batch", &DetectionAttrs::sort_result_across_batch>,
               Attr<"output_type", &DetectionAttrs::output_type>,
               Attr<"score_threshold", &DetectionAttrs::score_threshold>, Attr<"nms_top_k", &DetectionAttrs::nms_top_k>,
               Attr<"keep_top_k", &DetectionAttrs::keep_top_k>,
               Attr<"background_class", &DetectionAttrs::background_class>,
               Attr<"normalized", &DetectionAttrs::normalized>, More...>;

struct Detection {
  i64 batch = 0, label = 0;
  i64 box = 0;    ///< its number in its image
  i64 index = 0;  ///< its number in all of the input, as the output wants it
  double score = 0;
  double corners[4]{};
};

/// Of images with as many classes and boxes: [rows, 6], [rows, 1] and the number of rows for each image.
void infer_detections(InferContext& c, const DetectionAttrs& a, const Dim& images, const Dim& classes,
                      const Dim& boxes);

/// One image's detections, all classes together: the `keep_top_k` best of them, best first.
void keep_best(std::vector<Detection>& of_image, const DetectionAttrs& a);

/// Sorts as asked for across the images and fills the outputs; `counts`: the detections of each image.
void put_detections(EvalContext& c, const DetectionAttrs& a, std::vector<Detection> all,
                    const std::vector<i64>& counts);

}  // namespace ovir
