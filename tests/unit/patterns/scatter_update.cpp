#include <algorithm>

#include "pattern_examples.hpp"

namespace ovir::testing::patterns::scatter_update {
namespace {

/// Some of which occur several times, and some count from the end.
int places(Net& n, const Shape& shape, i64 length, bool from_end = true) {
  Tensor t(ElementType::i32, shape);
  auto* to = t.mutable_data<std::int32_t>();
  for (i64 i = 0; i < t.size(); ++i)
    to[i] = static_cast<std::int32_t>(i % 3 == 0 && from_end ? i * 5 % length - length : i * 7 % length);
  return n.constant(t);
}
void slices(Net& n) {
  const int x = passing(n, n.input({9, 40})), at = places(n, {2, 3}, 9, false);
  n.result(n.op("ScatterUpdate-3", {x, at, n.input({2, 3, 40}), n.index(0)}));
}
void elements_of_rows(Net& n) {
  n.result(
      relu(n, n.op("ScatterUpdate-3", {n.input({5, 90}), places(n, {7}, 90, false), n.input({5, 7}), n.index(1)})));
}

void update(Net& n, int x, const Shape& at, i64 length, i64 axis, std::string_view reduction, bool with_data = true) {
  n.result(n.op("ScatterElementsUpdate-12", {x, places(n, at, length), n.input(PartialShape(at)), n.index(axis)},
                {{"reduction", std::string(reduction)}, {"use_init_val", with_data ? "true" : "false"}}));
}
void rows(Net& n) { update(n, passing(n, n.input({20, 300})), {50, 290}, 20, 0, "sum"); }
void columns(Net& n) { update(n, n.input({6, 30}), {5, 300}, 30, -1, "mean"); }
void planes(Net& n) { update(n, n.input({3, 30, 7}), {3, 40, 6}, 30, 1, "max", false); }
void products(Net& n) { update(n, n.input({3, 30, 7}), {3, 40, 6}, 30, 1, "prod", false); }
void means(Net& n) { update(n, n.input({3, 30, 7}), {3, 40, 6}, 30, 1, "mean", false); }
void replaced(Net& n) {
  n.result(n.op("ScatterElementsUpdate-3", {n.input({8, 30}), places(n, {8, 90}, 30), n.input({8, 90}), n.index(1)}));
}
void integers(Net& n) {
  const auto whole = [&](const Shape& shape) {
    return n.op("Convert-1", {n.op("Multiply-1", {n.input(PartialShape(shape)), n.numbers({50}, {})})},
                {{"destination_type", "i64"}});
  };
  n.result(n.op("ScatterElementsUpdate-12", {whole({8, 30}), places(n, {8, 90}, 30), whole({8, 90}), n.index(1)},
                {{"reduction", "min"}, {"use_init_val", "true"}}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"scatter_update", slices},
    {"scatter_update", elements_of_rows, kOnce},
    {"scatter_elements_update", rows},
    {"scatter_elements_update", columns},
    {"scatter_elements_update", planes, kOnce},
    {"scatter_elements_update", products},
    {"scatter_elements_update", means},
    {"scatter_elements_update", replaced},
    {"scatter_elements_update", integers, kOften, kFixed, kF32Only},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"scatter_update", kExamples};

}  // namespace ovir::testing::patterns::scatter_update
