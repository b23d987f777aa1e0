#include "op/kit/detections.hpp"

#include <algorithm>
#include <tuple>

#include "tensor/dispatch.hpp"

namespace ovir {

void infer_detections(InferContext& c, const DetectionAttrs& a, const Dim& images, const Dim& classes,
                      const Dim& boxes) {
  c.require_index_type(a.output_type, "output_type");
  auto counted = classes;
  if (a.background_class >= 0 && classes.is_static() && a.background_class < classes.length())
    counted = Dim(classes.length() - 1);
  auto of_class = boxes;
  if (a.nms_top_k >= 0) of_class = Dim(0, std::min(of_class.max, a.nms_top_k));
  auto of_image = of_class * counted;
  if (a.keep_top_k >= 0) of_image = Dim(0, std::min(of_image.max, a.keep_top_k));
  const Dim rows(0, (of_image * images).max);
  c.output(0, PartialShape{rows, Dim(6)});
  c.output(1, a.output_type, PartialShape{rows, Dim(1)});
  c.output(2, a.output_type, PartialShape{images});
}

void keep_best(std::vector<Detection>& of_image, const DetectionAttrs& a) {
  const auto key = [](const Detection& d) { return std::tuple(-d.score, d.label, d.box); };
  std::sort(of_image.begin(), of_image.end(), [&](const Detection& x, const Detection& y) { return key(x) < key(y); });
  if (a.keep_top_k >= 0 && a.keep_top_k < std::ssize(of_image)) of_image.resize(a.keep_top_k);
}

void put_detections(EvalContext& c, const DetectionAttrs& a, std::vector<Detection> all,
                    const std::vector<i64>& counts) {
  if (a.sort_result_across_batch && a.sort_result != SortResult::none) {
    const auto key = [&](const Detection& d) {
      return a.sort_result == SortResult::score ? std::tuple(-d.score, d.batch, static_cast<double>(d.label), d.box)
                                                : std::tuple(static_cast<double>(d.label), d.batch, -d.score, d.box);
    };
    std::sort(all.begin(), all.end(), [&](const Detection& x, const Detection& y) { return key(x) < key(y); });
  }
  const auto rows = std::ssize(all);
  auto& outputs = c.out(0, {rows, 6});
  auto& indices = c.out(1, {rows, 1});
  auto& numbers = c.out(2, {std::ssize(counts)});
  dispatch(outputs.type(), Floats{}, [&]<class T>() {
    T* to = outputs.mutable_data<T>();
    for (const auto& d : all) {
      *to++ = static_cast<T>(d.label);
      *to++ = static_cast<T>(d.score);
      for (const auto v : d.corners) *to++ = static_cast<T>(v);
    }
  });
  dispatch(indices.type(), Indices{}, [&]<class I>() {
    std::transform(all.begin(), all.end(), indices.mutable_data<I>(),
                   [](const Detection& d) { return static_cast<I>(d.index); });
    std::transform(counts.begin(), counts.end(), numbers.mutable_data<I>(), [](i64 n) { return static_cast<I>(n); });
  });
}

}  // namespace ovir
