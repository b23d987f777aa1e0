#include <algorithm>

#include "pattern_examples.hpp"

namespace ovir::testing::patterns::attention_int8 {
namespace {

/// Levels 1/64 apart of which 0 is number `zero`.
int on_levels(Net& n, int x, float zero, float levels = 256) {
  const auto low = n.numbers({-zero / 64}, {}), high = n.numbers({(levels - 1 - zero) / 64}, {});
  return n.op("FakeQuantize-1", {x, low, high, low, high}, {{"levels", std::to_string(static_cast<int>(levels))}});
}
/// Probabilities on levels from 0 to 1.
int shares(Net& n, int x) {
  const auto low = n.numbers({0}, {}), high = n.numbers({1}, {});
  return n.op("FakeQuantize-1", {x, low, high, low, high}, {{"levels", "256"}});
}
int probabilities(Net& n, int scores) { return n.op("Softmax-8", {scores}, {{"axis", "-1"}}); }
int scaled_product(Net& n, const std::vector<int>& operands, bool causal = false) {
  return n.op("ScaledDotProductAttention-13", operands, {{"causal", causal ? "true" : "false"}});
}

void masked(Net& n) {
  const auto q = quantized(n, n.input({2, 3, 35, 22})), k = quantized(n, n.input({2, 3, 40, 22})),
             v = n.input({2, 3, 40, 9}), mask = n.input({2, 1, 35, 40});
  n.result(scaled_product(n, {q, k, v, mask}));
}
/// Neither levels of queries nor those of keys are the same on both sides of 0.
void other_zeros(Net& n) {
  const auto q = on_levels(n, n.input({2, 3, 35, 160}), 90), k = on_levels(n, n.input({2, 3, 70, 160}), 40, 110),
             v = n.input({2, 3, 70, 32});
  n.result(scaled_product(n, {q, k, v, n.numbers({0}, {}), n.numbers({0.25F}, {})}));
}
void many_keys(Net& n) {
  const auto q = quantized(n, n.input({1, 2, 530, 16})), k = quantized(n, n.input({1, 2, 530, 16})),
             v = n.input({1, 2, 530, 16});
  n.result(scaled_product(n, {q, k, v}, true));
}
void hidden_keys(Net& n) {
  const auto q = on_levels(n, n.input({2, 2, 30, 16}), 100), k = on_levels(n, n.input({2, 2, 300, 16}), 70),
             v = n.input({2, 2, 300, 16});
  std::vector<float> mask(300, -1e4F);
  std::fill(mask.begin() + 70, mask.begin() + 200, 0.25F);
  n.result(scaled_product(n, {q, k, v, n.constant(convert(floats({1, 1, 1, 300}, mask), n.type()))}));
}
/// Queries, keys and values side by side, of which the first two are brought onto levels behind Gather.
void parts(Net& n) {
  const auto x = matmul(n, n.input({2, 37, 24}), n.weights({192, 24}, 0.25F), true);
  const auto heads = n.op("Reshape-1", {x, n.indices({2, 37, 3, 4, 16})}, {{"special_zero", "false"}});
  const auto turned = n.op("Transpose-1", {heads, n.indices({2, 0, 3, 1, 4})});
  const auto part = [&](i64 i) { return n.op("Gather-8", {turned, n.index(i), n.index(0)}, {{"batch_dims", "0"}}); };
  const auto y = scaled_product(n, {quantized(n, part(0)), quantized(n, part(1)), part(2)});
  n.result(n.op("Transpose-1", {y, n.indices({0, 2, 1, 3})}));
}
/// Levels that a product writes are read where they lie.
void written_levels(Net& n) {
  const auto x = n.input({2, 37, 64});
  const auto heads = [&](int y) {
    const auto apart = n.op("Reshape-1", {y, n.indices({2, 37, 4, 16})}, {{"special_zero", "false"}});
    return n.op("Transpose-1", {apart, n.indices({0, 2, 1, 3})});
  };
  const auto product = [&] { return matmul(n, quantized(n, x), stepped(n, {64, 64}), true); };
  const auto q = heads(quantized(n, product())), k = heads(on_levels(n, product(), 120)), v = heads(product());
  n.result(scaled_product(n, {q, k, v}));
}
/// Who reads the keys, too, gets them in f32.
void keys_of_others(Net& n) {
  const auto q = quantized(n, n.input({2, 2, 9, 16})), k = quantized(n, n.input({2, 2, 16, 11}));
  const auto v = n.input({2, 2, 11, 16});
  const auto scores = n.op("Multiply-1", {matmul(n, q, k), n.numbers({0.25F}, {})});
  n.result(matmul(n, probabilities(n, scores), v));
  n.result(relu(n, k));
}
void factors_behind(Net& n) {
  const auto q = n.op("Multiply-1", {quantized(n, n.input({2, 2, 9, 16})), n.numbers({0.5F}, {})}),
             k = quantized(n, n.input({2, 2, 11, 16})), v = n.input({2, 2, 11, 16});
  n.result(matmul(n, probabilities(n, matmul(n, q, k, true)), v));
}

/// All four operands are on levels.
void all_on_levels(Net& n, const Shape& q, const Shape& k, const Shape& v, float zero, bool masked, float factor) {
  const auto queries = quantized(n, n.input(PartialShape(q))), keys = quantized(n, n.input(PartialShape(k)));
  auto scores = n.op("Multiply-1", {matmul(n, queries, keys, q[3] == k[3] && q[3] != k[2]), n.numbers({factor}, {})});
  if (masked) scores = n.op("Add-1", {scores, n.weights({1, 1, q[2], v[2]}, 4)});
  n.result(matmul(n, shares(n, probabilities(n, scores)), on_levels(n, n.input(PartialShape(v)), zero)));
}
void quantized_shares(Net& n) { all_on_levels(n, {2, 3, 35, 24}, {2, 3, 70, 24}, {2, 3, 70, 33}, 128, true, 1); }
void quantized_shares_turned(Net& n) { all_on_levels(n, {2, 3, 9, 16}, {2, 3, 16, 41}, {2, 3, 41, 64}, 60, false, 2); }
void quantized_shares_of_few(Net& n) { all_on_levels(n, {2, 3, 1, 16}, {2, 3, 7, 16}, {2, 3, 7, 8}, 128, false, 1); }
void quantized_shares_of_many(Net& n) {
  all_on_levels(n, {1, 2, 30, 16}, {1, 2, 700, 16}, {1, 2, 700, 32}, 90, true, 4);
}
/// Scores in f32.
void quantized_shares_alone(Net& n) {
  const auto q = n.input({2, 2, 9, 16}), k = n.input({2, 2, 35, 16}), v = quantized(n, n.input({2, 2, 35, 16}));
  n.result(matmul(n, shares(n, probabilities(n, matmul(n, q, k, true))), v));
}
/// A single query is not worth packing keys for.
void single_query(Net& n) {
  const auto q = quantized(n, n.input({2, 3, 1, 16})), k = quantized(n, n.input({2, 3, 40, 16}));
  n.result(scaled_product(n, {q, k, n.input({2, 3, 40, 9})}));
}

/// A probability on the border of two levels may be rounded otherwise.
constexpr float kLevel = 1.0F / 128;

// clang-format off
constexpr Example kExamples[] = {
    {"int8.attention", masked, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.attention", masked, kOnce, kOpen, true, 5e-6F, Precision::int8},
    {"int8.attention", other_zeros, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.attention", many_keys, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.attention", hidden_keys, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.attention+parts", parts, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8.attention+parts", written_levels, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8.attention", keys_of_others, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.attention", factors_behind, kOnce, kOpen, true, 5e-6F, Precision::int8},
    {"int8.attention", quantized_shares, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8.attention", quantized_shares, kOnce, kOpen, true, kLevel, Precision::int8},
    {"int8.attention", quantized_shares_turned, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8.attention", quantized_shares_of_few, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8.attention", quantized_shares_of_many, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8.attention", quantized_shares_alone, kOften, kFixed, true, kLevel, Precision::int8},
    {"attention", single_query, kOften, kFixed, true, 5e-6F, Precision::int8},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"attention", kExamples};

}  // namespace ovir::testing::patterns::attention_int8
