#include "pattern_examples.hpp"

namespace ovir::testing::patterns::unchanged {
namespace {

int broadcast(Net& n, int x, std::initializer_list<i64> to) {
  return n.op("Broadcast-3", {x, n.indices(to)}, {{"mode", "bidirectional"}});
}
int rows(Net& n) { return matmul(n, n.input({3, 50, 72}), n.weights({72, 40})); }

void repeated(Net& n) { n.result(relu(n, broadcast(n, rows(n), {3, 50, 1}))); }
void tiled(Net& n) { n.result(relu(n, n.op("Tile-1", {rows(n), n.indices({1, 1, 1})}))); }
void reshaped(Net& n) {  // twice, and what comes of it is a result
  const Texts kept{{"special_zero", "true"}};
  const auto x = n.op("Reshape-1", {rows(n), n.indices({0, 50, -1})}, kept);
  n.result(
      n.op("Reshape-1", {relu(n, n.op("Reshape-1", {x, n.indices({3, -1, 0})}, kept)), n.indices({0, 0, 0})}, kept));
}
/// Of what others read, too.
void read(Net& n) {
  const auto x = n.input({3, 50, 72});
  n.result(relu(n, broadcast(n, matmul(n, broadcast(n, x, {3, 1, 72}), n.weights({72, 40})), {3, 1, 1})));
  n.result(relu(n, x));
}

// clang-format off
constexpr Example kExamples[] = {
    {"packed.matmul+Relu", repeated},
    {"matmul+Relu", repeated, kOnce},
    {"packed.matmul+Relu", tiled},
    {"packed.matmul+Relu", reshaped},
    {"packed.matmul+Relu", read},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"unchanged", kExamples};

}  // namespace ovir::testing::patterns::unchanged
