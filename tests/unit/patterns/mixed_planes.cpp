#include "pattern_examples.hpp"

namespace ovir::testing::patterns::mixed_planes {
namespace {

int transposed(Net& n, int x, std::initializer_list<i64> order) { return n.op("Transpose-1", {x, n.indices(order)}); }
int product(Net& n, int x, const Shape& matrix, bool transpose_b) {
  return n.op("MatMul-1", {x, n.weights(matrix)}, {{"transpose_b", transpose_b ? "true" : "false"}});
}
void heads(Net& n) {
  const auto x = transposed(n, n.input({2, 4, 37, 41}), {0, 2, 3, 1});
  n.result(transposed(n, n.op("Add-1", {product(n, x, {6, 4}, true), n.weights({6})}), {0, 3, 1, 2}));
}
void no_bias(Net& n) {
  const auto x = transposed(n, n.input({3, 5, 70}), {0, 2, 1});
  n.result(transposed(n, product(n, x, {5, 2}, false), {0, 2, 1}));
}
/// Axes that come back in another order, and a value that somebody else reads.
void others(Net& n) {
  const auto x = transposed(n, n.input({2, 3, 4, 5}), {0, 2, 3, 1});
  n.result(transposed(n, product(n, x, {3, 3}, false), {0, 3, 2, 1}));
  const auto y = transposed(n, n.input({2, 3, 7}), {0, 2, 1});
  n.result(y);
  n.result(transposed(n, product(n, y, {3, 3}, false), {0, 2, 1}));
}
void beside_others(Net& n) {
  heads(n);
  others(n);
}

// clang-format off
constexpr Example kExamples[] = {
    {"mixed_planes", heads},
    {"mixed_planes", no_bias, kOnce, kOpen},
    {"mixed_planes", beside_others},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"mixed_planes", kExamples};

}  // namespace ovir::testing::patterns::mixed_planes
