#include <algorithm>

#include "pattern_examples.hpp"

namespace ovir::testing::patterns::scatter_nd_update {
namespace {

int places(Net& n, const Shape& shape, std::initializer_list<i64> values) {
  Tensor t(ElementType::i64, shape);
  std::copy(values.begin(), values.end(), t.mutable_data<i64>());
  return n.constant(t);
}
int scatter(Net& n, int x, int indices, int updates) { return n.op("ScatterNDUpdate-4", {x, indices, updates}); }

void all(Net& n) {
  const auto x = passing(n, n.input({4, 3})), y = passing(n, n.input({4, 3}));
  n.result(relu(n, scatter(n, x, places(n, {4, 1}, {0, 1, -2, 3}), y)));
}
void rows(Net& n) { n.result(scatter(n, passing(n, n.input({7, 5})), places(n, {3, 1}, {1, 2, -2}), n.input({3, 5}))); }
void elements(Net& n) {
  const auto at = places(n, {2, 2, 2}, {0, 1, 0, 2, 1, -3, 2, 1});
  n.result(scatter(n, n.input({3, 5, 2}), at, n.input({2, 2, 2})));
}
/// The data are read elsewhere, too, so they stay.
void kept(Net& n) {
  const auto x = relu(n, n.input({7, 5}));
  n.result(relu(n, scatter(n, x, places(n, {2, 1}, {0, 5}), n.input({2, 5}))));
  n.result(relu(n, x));
}

// clang-format off
constexpr Example kExamples[] = {
    {"scatter_nd_update", all},
    {"scatter_nd_update", all, kOnce},
    {"scatter_nd_update", rows},
    {"scatter_nd_update", elements},
    {"scatter_nd_update", kept},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"scatter_nd_update", kExamples};

}  // namespace ovir::testing::patterns::scatter_nd_update
