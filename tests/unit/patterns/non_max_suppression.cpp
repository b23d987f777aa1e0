#include "pattern_examples.hpp"

namespace ovir::testing::patterns::non_max_suppression {
namespace {

/// Boxes of a width and height around 1, mostly overlapping some others.
std::vector<int> inputs(Net& n, i64 batches, i64 classes, i64 count, i64 most) {
  const auto boxes = n.op("Add-1", {n.input({batches, count, 4}), n.numbers({0, 0, 1, 1}, {4})});
  const auto spread = n.op("Multiply-1", {boxes, n.numbers({3, 3, 1, 1}, {4})});
  return {spread, n.input({batches, classes, count}), n.index(most), n.numbers({0.3F}, {}), n.numbers({-0.2F}, {})};
}
Texts attributes(std::string_view encoding, std::string_view sorted, std::string_view type) {
  return {{"box_encoding", std::string(encoding)},
          {"sort_result_descending", std::string(sorted)},
          {"output_type", std::string(type)}};
}
void selected(Net& n, std::string_view operation, const std::vector<int>& in, const Texts& texts) {
  const auto best = n.op(operation, in, texts, 3);
  for (const auto port : {0, 1, 2}) n.result(best, port);
}

void centers(Net& n) {
  selected(n, "NonMaxSuppression-9", inputs(n, 2, 3, 70, 9), attributes("center", "true", "i64"));
}
void corners(Net& n) {
  selected(n, "NonMaxSuppression-5", inputs(n, 1, 4, 50, 100), attributes("corner", "false", "i32"));
}
void filled(Net& n) {
  n.result(n.op("NonMaxSuppression-4", inputs(n, 2, 3, 40, 30), attributes("center", "true", "i32")));
}
void one_batch(Net& n) {
  n.result(n.op("NonMaxSuppression-3", inputs(n, 1, 2, 40, 30), attributes("corner", "true", "i64")));
}

// clang-format off
constexpr Example kExamples[] = {
    {"non_max_suppression", centers},
    {"non_max_suppression", centers, kOnce, kOpen},
    {"non_max_suppression", corners},
    {"non_max_suppression", filled},
    {"non_max_suppression", one_batch},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"non_max_suppression", kExamples};

}  // namespace ovir::testing::patterns::non_max_suppression
