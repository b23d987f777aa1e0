#include "pattern_examples.hpp"

namespace ovir::testing::patterns::unchanged {
namespace {

int broadcast(Net& n, int x, std::initializer_list<i64> to) {
  return n.op("Broadcast-3", {x, n.indices(to)}, {{"mode", "bidirectional"}});
}
int rows(Net& n) { return matmul(n, n.input({3, 50, 72}), n.weights({72, 40})); }

void repeated(Net& n) { n.result(relu(n, broadcast(n, rows(n), {3, 50, 1}))); }
void tiled(Net& n) { n.result(relu(n, n.op("Tile-1", {rows(n), n.indices({1, 1, 1})}))); }
void sliced(Net& n) {  // the second one turns an axis around
  const auto cut = [&](i64 from, i64 to, i64 step) {
    return n.op("Slice-8",
                {rows(n), n.indices({0, from}), n.indices({3, to}), n.indices({1, step}), n.indices({0, 1})});
  };
  n.result(relu(n, cut(0, 1000, 1)));
  n.result(cut(-1, -1000, -1));
}
void reshaped(Net& n) {  // twice, before what no convolution scales behind a view; what comes of it is a result
  const auto kept = [&](int x, std::initializer_list<i64> shape) {
    return n.op("Reshape-1", {x, n.indices(shape)}, {{"special_zero", "true"}});
  };
  const auto x = kept(convolution(n, n.input({1, 20, 9, 7}), {18, 20, 1, 1}, windows(2)), {0, 18, 9, -1});
  n.result(kept(relu(n, n.op("Multiply-1", {kept(x, {1, -1, 9, 0}), n.weights({1, 18, 1, 1})})), {0, 0, 0, 0}));
}
/// Of what others read, too.
void read(Net& n) {
  const auto x = n.input({3, 50, 72});
  n.result(relu(n, broadcast(n, matmul(n, broadcast(n, x, {3, 1, 72}), n.weights({72, 40})), {3, 1, 1})));
  n.result(relu(n, x));
}

/// Operations with numbers that change nothing; of 0 it is the negative one that is added.
void neutral(Net& n) {
  auto y = n.op("Subtract-1", {rows(n), n.numbers({0}, {1, 1, 1})});
  y = n.op("Multiply-1", {n.numbers({1}, {}), n.op("Add-1", {y, n.numbers({-0.0F}, {})})});
  n.result(relu(n, n.op("Divide-1", {y, n.numbers({1, 1, 1}, {3, 1, 1})})));
}

const Texts kExact{{"special_zero", "false"}};

int onto_levels(Net& n, int x, float low = 0) {
  return n.op("FakeQuantize-1",
              {x, n.numbers({low}, {}), n.numbers({5.1F}, {}), n.numbers({low}, {}), n.numbers({5.1F}, {})},
              {{"levels", "256"}});
}
int pooled(Net& n, int x) {
  return n.op("MaxPool-1", {x},
              {{"strides", "2,2"},
               {"pads_begin", "1,1"},
               {"pads_end", "1,1"},
               {"kernel", "3,3"},
               {"rounding_type", "floor"},
               {"auto_pad", "explicit"}});
}
/// What the Reshape gives is on its levels, what the Concat gives is not.
void quantized_again(Net& n) {
  const auto x = onto_levels(n, n.input({2, 32, 9, 7})), other = onto_levels(n, n.input({2, 32, 9, 7}), 0.1F);
  const auto plane = onto_levels(n, n.op("Reshape-1", {onto_levels(n, pooled(n, x)), n.indices({2, 32, 20})}, kExact));
  n.result(n.op("Transpose-1", {plane, n.indices({0, 2, 1})}));
  const auto reversed = onto_levels(n, n.input({2, 32, 9, 7}), 5.3F);  // of such limits the lower one becomes the other
  n.result(relu(n, onto_levels(n, reversed, 5.3F)));
  n.result(relu(n, onto_levels(n, n.op("Concat-1", {x, other}, {{"axis", "1"}}))));
}

// clang-format off
constexpr Example kExamples[] = {
    {"packed.matmul+Relu", repeated},
    {"matmul+Relu", repeated, kOnce},
    {"packed.matmul+Relu", tiled},
    {"packed.matmul+Relu", neutral},
    {"packed.matmul+Relu", sliced},
    {"pointwise.convolution+scale+Relu", reshaped},
    {"packed.matmul+Relu", read},
    {"planes+transpose", quantized_again},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"unchanged", kExamples};

}  // namespace ovir::testing::patterns::unchanged
