// Attention whose products are Einsums, or MatMuls whose results are transposed.
#include <limits>

#include "pattern_examples.hpp"

namespace ovir::testing::patterns::attention_einsum {
namespace {

/// Two Einsums around a Softmax, with what is between them.
int einsum(Net& n, const char* equation, int a, int b) { return n.op("Einsum-7", {a, b}, {{"equation", equation}}); }
int weights_of(Net& n, int scores) { return n.op("Softmax-8", {scores}, {{"axis", "-1"}}); }
/// As Keras has them: heads are parted and joined by nothing but the equations.
void einsums(Net& n) {
  const auto q = n.input({2, 9, 3, 8}), k = n.input({2, 11, 3, 8}), v = n.input({2, 11, 3, 5});
  const auto scores = n.op("Multiply-1", {einsum(n, "BTNH,BSNH->BNTS", q, k), n.numbers({0.3F}, {1, 1, 1, 1})});
  n.result(einsum(n, "BNTS,BSNH->BTNH", weights_of(n, scores), v));
}
void einsums_of_keys_first(Net& n) {
  const auto q = n.op("Multiply-1", {n.input({2, 9, 3, 8}), n.numbers({0.3F}, {})});
  const auto scores = einsum(n, "aecd,abcd->acbe", n.input({2, 11, 3, 8}), q);
  const auto y = einsum(n, "aecd,acbe->abcd", n.input({2, 11, 3, 8}), weights_of(n, scores));
  n.result(n.op("Transpose-1", {y, n.indices({0, 2, 1, 3})}));
}
void einsums_in_place(Net& n) {
  const auto scores = einsum(n, "...id,...jd->...ij", n.input({2, 3, 9, 8}), n.input({2, 3, 11, 8}));
  n.result(einsum(n, "...ij,...jd->...id", weights_of(n, scores), n.input({2, 3, 11, 5})));
}
void einsum_and_product(Net& n) {
  const auto scores = einsum(n, "bqd,bdk->bqk", n.input({6, 9, 8}), n.input({6, 8, 11}));
  n.result(matmul(n, weights_of(n, scores), n.input({6, 11, 5})));
}
/// Attention along one axis of several: the others are batches, or batches and heads.
void einsums_of_rows(Net& n) {
  const auto scores = einsum(n, "abcde,abfde->abdfc", n.input({2, 4, 11, 3, 8}), n.input({2, 4, 9, 3, 8}));
  const auto masked = n.op("Add-1", {scores, n.input({2, 4, 1, 1, 11})});
  n.result(einsum(n, "abcde,abecf->abdcf", weights_of(n, masked), n.input({2, 4, 11, 3, 5})));
}
void einsums_of_columns(Net& n, const Shape& mask) {
  const auto scores = einsum(n, "abcde,afcde->acdfb", n.input({2, 11, 4, 3, 8}), n.input({2, 9, 4, 3, 8}));
  const auto masked = n.op("Add-1", {scores, n.weights(mask)});
  n.result(einsum(n, "abcde,aebcf->adbcf", weights_of(n, masked), n.input({2, 11, 4, 3, 5})));
}
void einsums_of_columns_seen(Net& n) { einsums_of_columns(n, {1, 1, 9, 11}); }
void einsums_of_columns_masked(Net& n) { einsums_of_columns(n, {4, 3, 1, 11}); }
/// Groups of heads are an axis of their own, as Gemma of KerasHub has them.
void einsums_of_groups(Net& n) {
  const auto q = n.input({2, 9, 3, 4, 8}), k = n.input({2, 11, 3, 8}), v = n.input({2, 11, 3, 5});
  const auto scores = n.op("Add-1", {einsum(n, "btkgh,bskh->bkgts", q, k), n.input({2, 1, 1, 9, 11})});
  n.result(einsum(n, "bkgts,bskh->btkgh", weights_of(n, scores), v));
}
/// One head of keys and values, of whose axis there is none: heads and queries are rows.
void einsums_of_one_head(Net& n) {
  const auto scores = einsum(n, "bnqd,bkd->bnqk", n.input({2, 3, 9, 8}), n.input({2, 11, 8}));
  n.result(einsum(n, "bnqk,bkd->bnqd", weights_of(n, scores), n.input({2, 11, 5})));
}
/// Heads that Keras repeats: Tile, where heads are behind rows.
void einsums_of_repeated_heads(Net& n) {
  const auto repeat = [&](int x) {
    const auto tiled = n.op("Tile-1", {n.op("Unsqueeze-1", {x, n.index(3)}), n.indices({1, 1, 1, 2, 1})});
    return n.op("Reshape-1", {tiled, n.indices({0, 11, 6, 8})}, {{"special_zero", "true"}});
  };
  const auto k = repeat(n.input({2, 11, 3, 8})), v = repeat(n.input({2, 11, 3, 8}));
  const auto scores = einsum(n, "BTNH,BSNH->BNTS", n.input({2, 9, 6, 8}), k);
  n.result(einsum(n, "BNTS,BSNH->BTNH", weights_of(n, scores), v));
}
/// A mask as large as the scores, by And with what is true of all of them.
void einsums_of_wide_mask(Net& n) {
  const auto q = n.input({2, 9, 3, 8}), k = n.input({2, 11, 3, 8}), v = n.input({2, 11, 3, 5});
  const auto scores = n.op("Multiply-1", {einsum(n, "BTNH,BSNH->BNTS", q, k), n.numbers({0.3F}, {})});
  const auto shape = n.op("ShapeOf-3", {scores}, {{"output_type", "i64"}});
  const auto all =
      n.op("Broadcast-3",
           {n.constant(Tensor::of<std::uint8_t>(ElementType::boolean, {}, std::vector<std::uint8_t>{1})), shape},
           {{"mode", "numpy"}});
  const auto seen = n.op("Greater-1", {n.input({2, 1, 9, 11}), n.numbers({-0.3F}, {})});
  const auto mask = n.op("LogicalAnd-1", {all, seen});
  n.result(einsum(n, "BNTS,BSNH->BTNH", weights_of(n, n.op("Select-1", {mask, scores, n.numbers({-2e38F}, {})})), v));
}
/// Products of keys and queries, which TensorFlow's converter transposes, as it does queries.
void turned_queries(Net& n, i64 queries) {
  const auto q = n.op("Sigmoid-1", {n.input({2, 3, 8, queries})});
  const auto scores = n.op("Transpose-1", {matmul(n, n.input({2, 3, 11, 8}), q), n.indices({0, 1, 3, 2})});
  const auto y = matmul(n, weights_of(n, scores), n.input({2, 3, 11, 5}));
  n.result(n.op("Transpose-1", {y, n.indices({0, 2, 1, 3})}));
}
void turned_queries_few(Net& n) { turned_queries(n, 3); }
void turned_queries_some(Net& n) { turned_queries(n, 45); }
/// As JAX has it: Softmax node by node, and values that are multiplied from the left, by columns.
void turned_values(Net& n, bool masked) {
  const auto turned = [&](const Shape& shape, std::initializer_list<i64> order) {
    return n.op("Transpose-1", {n.input(PartialShape(shape)), n.indices(order)});
  };
  const auto q = turned({2, 9, 3, 8}, {0, 2, 1, 3}), k = turned({2, 11, 3, 8}, {0, 2, 1, 3}),
             v = turned({2, 11, 3, 5}, {0, 2, 3, 1});
  auto scores = n.op("Multiply-1", {matmul(n, q, k, true), n.numbers({0.3F}, {1, 1, 1, 1})});
  if (masked) {
    const auto seen = n.op("Less-1", {n.input({2, 1, 9, 11}), n.numbers({0.3F}, {})});
    scores = n.op("Select-1", {seen, scores, n.numbers({-3e4F}, {})});
  }
  const auto reduced = [&](const char* type, int of) {
    return n.op(type, {of, n.indices({3})}, {{"keep_dims", "false"}});
  };
  const auto wide = [&](int of) {
    return n.op("Broadcast-3", {of, n.indices({2, 3, 9, 1}), n.indices({0, 1, 2})}, {{"mode", "explicit"}});
  };
  const auto least = n.numbers({-std::numeric_limits<float>::infinity()}, {1, 1, 1});
  const auto most = wide(n.op("Maximum-1", {least, reduced("ReduceMax-1", scores)}));
  const auto powers = n.op("Exp-1", {n.op("Subtract-1", {scores, most})});
  const auto weights = n.op("Divide-1", {powers, wide(reduced("ReduceSum-1", powers))});
  n.result(n.op("Transpose-1", {matmul(n, v, weights, true), n.indices({0, 3, 1, 2})}));
}
void turned_values_of_all(Net& n) { turned_values(n, false); }
void turned_values_of_some(Net& n) { turned_values(n, true); }
/// As Keras has it: a mask hides probabilities, too, so that a query that sees no key gets zeros.
void hidden_probabilities(Net& n, i64 queries, i64 keys, float score, bool behind_as_well = true) {
  const auto q = n.input({2, 3, queries, 8}), k = n.input({2, 3, keys, 8}), v = n.input({2, 3, keys, 5});
  const auto keys_seen = n.op("Less-1", {n.input({2, 1, 1, keys}), n.numbers({0.4F}, {})});
  const auto mask =
      n.op("LogicalAnd-1", {n.op("Less-1", {n.input({2, 1, queries, 1}), n.numbers({0}, {})}), keys_seen});
  const auto scores = n.op("Select-1", {mask, matmul(n, q, k, true), n.numbers({score}, {})});
  const auto behind = behind_as_well ? mask : keys_seen;
  n.result(matmul(n, n.op("Select-1", {behind, weights_of(n, scores), n.numbers({0}, {})}), v));
}
void hidden_probabilities_of_few(Net& n) { hidden_probabilities(n, 4, 20, -1e9F); }
void hidden_probabilities_of_some(Net& n) { hidden_probabilities(n, 11, 20, -3e4F); }
void hidden_probabilities_of_many(Net& n) { hidden_probabilities(n, 9, 700, -1e9F); }
/// Behind the first attention are those whose hidden scores count, or that have other probabilities hidden.
void hidden_otherwise(Net& n) {
  einsums(n);
  hidden_probabilities(n, 9, 20, -1);
  hidden_probabilities(n, 9, 20, -1e9F, false);
}
/// What comes behind the first attention is none: probabilities of queries, products that sum up something else, or
/// whose axes do not lie side by side.
void einsums_of_others(Net& n) {
  const auto operand = [&](i64 rows) { return n.input({2, rows, 3, 8}); };
  einsums(n);
  const auto by_query = n.op("Softmax-8", {einsum(n, "BTNH,BSNH->BNTS", operand(9), operand(9))}, {{"axis", "2"}});
  n.result(einsum(n, "BNTS,BSNH->BTNH", by_query, operand(9)));
  const auto scores = [&] { return weights_of(n, einsum(n, "BTNH,BSNH->BNTS", operand(9), operand(9))); };
  n.result(einsum(n, "BNTS,BTNH->BSNH", scores(), operand(9)));
  n.result(einsum(n, "BNTS,BSNH->BTHN", scores(), operand(9)));
  const auto apart = einsum(n, "axbqd,axbkd->abxqk", n.input({2, 4, 3, 9, 8}), n.input({2, 4, 3, 9, 8}));
  n.result(einsum(n, "abxqk,axbkd->axbqd", weights_of(n, apart), n.input({2, 4, 3, 9, 8})));
}

/// Operands are rounded to 8 bits.
constexpr float kBf16 = 1e-2F;

// clang-format off
constexpr Example kExamples[] = {
    {"attention", einsums},
    {"attention", einsums, kOnce, kOpen},
    {"bf16.attention", einsums, kOften, kFixed, true, kBf16, Precision::bf16},
    {"attention", einsums_of_keys_first},
    {"attention", einsums_of_keys_first, kOnce, kOpen},
    {"attention", einsums_in_place},
    {"attention", einsum_and_product},
    {"attention", einsum_and_product, kOnce, kOpen},
    {"attention", einsums_of_rows},
    {"attention", einsums_of_rows, kOnce, kOpen},
    {"attention", einsums_of_columns_seen},
    {"attention", einsums_of_columns_masked, kOnce, kOpen},
    {"attention+groups", einsums_of_groups},
    {"attention+groups", einsums_of_groups, kOnce, kOpen},
    {"attention", einsums_of_one_head},
    {"attention", einsums_of_one_head, kOnce, kOpen},
    {"attention+groups", einsums_of_repeated_heads},
    {"attention+groups", einsums_of_repeated_heads, kOnce, kOpen},
    {"attention", einsums_of_wide_mask, kOften, kFixed, kF32Only},
    {"attention", einsums_of_wide_mask, kOnce, kOpen, kF32Only},
    {"attention", turned_queries_few},
    {"attention", turned_queries_some, kOnce, kOpen},
    {"bf16.attention", turned_queries_some, kOften, kFixed, true, kBf16, Precision::bf16},
    {"attention", turned_values_of_all},
    {"attention", turned_values_of_some, kOnce},
    {"bf16.attention", turned_values_of_all, kOften, kFixed, true, kBf16, Precision::bf16},
    {"attention", hidden_probabilities_of_few, kOften, kFixed, kF32Only},
    {"attention", hidden_probabilities_of_some, kOften, kOpen, kF32Only},
    {"attention", hidden_probabilities_of_many, kOnce, kOpen, kF32Only},
    {"attention", hidden_otherwise, kOften, kFixed, kF32Only},
    {"attention", einsums_of_others},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"attention", kExamples};

}  // namespace ovir::testing::patterns::attention_einsum
