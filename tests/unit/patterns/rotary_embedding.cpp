#include "pattern_examples.hpp"

namespace ovir::testing::patterns::rotary_embedding {
namespace {

int columns(Net& n, int x, i64 begin, i64 end, i64 step = 1) {
  return n.op("Slice-8", {x, n.indices({begin}), n.indices({end}), n.indices({step}), n.indices({3})});
}
int joined(Net& n, int a, int b) { return n.op("Concat-1", {a, b}, {{"axis", "-1"}}); }
int negated(Net& n, int x) { return n.op("Multiply-1", {x, n.numbers({-1}, {1, 1, 1, 1})}); }
int halves(Net& n, int x, i64 width) {
  return joined(n, negated(n, columns(n, x, width / 2, INT64_MAX)), columns(n, x, 0, width / 2));
}
int sum(Net& n, int x, int turned, const Shape& tables) {
  const auto cosine = n.op("Cos-1", {n.input(tables)}), sine = n.op("Sin-1", {n.input(tables)});
  return n.op("Add-1", {n.op("Multiply-1", {x, cosine}), n.op("Multiply-1", {turned, sine})});
}
int heads(Net& n, i64 width) {
  return n.op("Transpose-1", {n.op("Sigmoid-1", {n.input({2, 5, 3, width})}), n.indices({0, 2, 1, 3})});
}

void llama(Net& n) {
  const auto x = heads(n, 38);
  n.result(sum(n, x, halves(n, x, 38), {2, 1, 5, 38}));
}
void split_halves(Net& n) {  // with one table for all, and the other operands first
  const auto x = n.input({2, 3, 5, 64});
  const auto parts = n.op("Split-1", {x, n.index(-1)}, {{"num_splits", "2"}}, 2);
  const auto turned = joined(n, n.op("Negative-1", {n.model.graph.output(parts, 1)}), parts);
  n.result(
      n.op("Add-1", {n.op("Multiply-1", {n.weights({5, 64}), turned}), n.op("Multiply-1", {n.weights({1, 64}), x})}));
}
void first_columns(Net& n) {
  const auto x = heads(n, 40), part = columns(n, x, 0, 12), rest = columns(n, x, 12, INT64_MAX);
  n.result(joined(n, sum(n, part, halves(n, part, 12), {2, 1, 5, 12}), rest));
}
void neighbors(Net& n) {
  const auto x = heads(n, 22);
  const auto wide = [&](int y) { return n.op("Unsqueeze-1", {y, n.indices({-1})}); };
  const auto pairs = joined(n, wide(negated(n, columns(n, x, 1, INT64_MAX, 2))), wide(columns(n, x, 0, INT64_MAX, 2)));
  const auto turned = n.op("Reshape-1", {pairs, n.indices({0, 0, 0, -1})}, {{"special_zero", "true"}});
  n.result(sum(n, x, turned, {2, 1, 5, 22}));
}
/// Halves as Keras stacks them, in a model whose heads come third.
int stacked_halves(Net& n, int x, i64 width) {
  const auto parts = n.op("Split-1", {x, n.index(-1)}, {{"num_splits", "2"}}, 2);
  const auto wide = [&](int y) { return n.op("Unsqueeze-1", {y, n.indices({-2})}); };
  const auto both = n.op("Concat-1", {wide(negated(n, n.model.graph.output(parts, 1))), wide(parts)}, {{"axis", "-2"}});
  return n.op("Reshape-1", {both, n.indices({0, 0, 0, width})}, {{"special_zero", "true"}});
}
void stacked(Net& n) {
  const auto x = n.op("Sigmoid-1", {n.input({2, 5, 3, 18})});
  n.result(sum(n, x, stacked_halves(n, x, 18), {2, 5, 1, 18}));
}
/// Transposed behind that.
void stacked_before_transposes(Net& n) {
  const auto x = n.op("Sigmoid-1", {n.input({2, 5, 3, 18})});
  const auto moved = [&](int y) { return n.op("Transpose-1", {y, n.indices({0, 2, 1, 3})}); };
  n.result(sum(n, moved(x), moved(stacked_halves(n, x, 18)), {2, 1, 5, 18}));
}
void all_tables(Net& n) {  // one for each head and row
  const auto x = n.op("Sigmoid-1", {n.input({2, 3, 5, 16})});
  n.result(sum(n, x, halves(n, x, 16), {2, 3, 5, 16}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"rotary_embedding", llama},
    {"rotary_embedding", llama, kOnce, kOpen},
    {"rotary_embedding", split_halves, kOften, kFixed, true, 0},
    {"rotary_embedding", first_columns},
    {"rotary_embedding", first_columns, kOnce, kOpen},
    {"rotary_embedding", all_tables},
    {"rotary_embedding", stacked},
    {"rotary_embedding", stacked, kOnce, kOpen},
    {"rotary_embedding", stacked_before_transposes},
    {"rotary_embedding", stacked_before_transposes, kOnce, kOpen},
    {"rotary_embedding+neighbors", neighbors},
    {"rotary_embedding+neighbors", neighbors, kOnce, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"rotary_embedding", kExamples};

}  // namespace ovir::testing::patterns::rotary_embedding
