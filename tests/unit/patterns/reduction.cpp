#include "pattern_examples.hpp"

namespace ovir::testing::patterns::reduction {
namespace {

void mean(Net& n) {
  n.result(n.op("ReduceMean-1", {n.input({2, 32, 5, 7}), n.indices({2, 3})}, {{"keep_dims", "true"}}));
}
void sum(Net& n) { n.result(n.op("ReduceSum-1", {n.input({3, 4, 35}), n.indices({-1})}, {{"keep_dims", "false"}})); }
void maximum(Net& n) { n.result(n.op("ReduceMax-1", {n.input({3, 9, 5}), n.indices({1})}, {{"keep_dims", "true"}})); }
void minimum(Net& n) {
  n.result(n.op("ReduceMin-1", {n.input({3, 9, 5}), n.indices({0, 1})}, {{"keep_dims", "false"}}));
}
void norm(Net& n) {
  n.result(n.op("ReduceL2-4", {n.input({2, 5, 7, 33}), n.indices({1, 2})}, {{"keep_dims", "true"}}));
}

Texts kept() { return {{"keep_dims", "true"}}; }
int integers(Net& n, const Shape& shape, std::string_view type) {
  const auto scaled = n.op("Multiply-1", {n.input(shape), n.numbers({20}, {1})});
  return n.op("Convert-1", {scaled}, {{"destination_type", std::string(type)}});
}
void absolute(Net& n) { n.result(n.op("ReduceL1-4", {n.input({3, 700}), n.indices({1})}, kept())); }
void absolute_inner(Net& n) { n.result(n.op("ReduceL1-4", {n.input({3, 70, 90}), n.indices({1})}, kept())); }
void apart(Net& n) { n.result(n.op("ReduceSum-1", {n.input({3, 5, 7, 70}), n.indices({0, 2})}, kept())); }
void apart_rows(Net& n) { n.result(n.op("ReduceMax-1", {n.input({4, 3, 6, 50}), n.indices({-1, 1})}, kept())); }
void apart_norm(Net& n) { n.result(n.op("ReduceL2-4", {n.input({4, 3, 6, 50}), n.indices({0, 3})}, kept())); }
/// Results of a few terms each, of which many are computed together.
void short_rows(Net& n) { n.result(n.op("ReduceSum-1", {n.input({150, 3}), n.indices({1})}, kept())); }
void short_mean(Net& n) { n.result(n.op("ReduceMean-1", {n.input({3, 70, 5, 2}), n.indices({2})}, kept())); }
void short_norm(Net& n) { n.result(n.op("ReduceL2-4", {n.input({70, 16}), n.indices({-1})}, kept())); }
void short_extreme(Net& n) { n.result(n.op("ReduceMin-1", {n.input({65, 4, 15}), n.indices({1})}, kept())); }
void short_absolute(Net& n) { n.result(n.op("ReduceL1-4", {n.input({99, 1}), n.indices({1})}, kept())); }
void product(Net& n) { n.result(n.op("ReduceProd-1", {n.input({9, 77}), n.indices({1})}, kept())); }
void product_apart(Net& n) { n.result(n.op("ReduceProd-1", {n.input({2, 5, 3, 300}), n.indices({0, 2})}, kept())); }
void sum_integers(Net& n) { n.result(n.op("ReduceSum-1", {integers(n, {3, 70, 9}, "i64"), n.indices({1})}, kept())); }
void product_integers(Net& n) { n.result(n.op("ReduceProd-1", {integers(n, {3, 70}, "i32"), n.indices({1})}, kept())); }
void largest_byte(Net& n) { n.result(n.op("ReduceMax-1", {integers(n, {3, 70}, "i8"), n.indices({1})}, kept())); }
void least_integer(Net& n) { n.result(n.op("ReduceMin-1", {integers(n, {3, 70, 5}, "i32"), n.indices({0})}, kept())); }
void mean_integers(Net& n) {
  for (const auto* type : {"u8", "i16", "i32", "i64", "u64"})
    for (const i64 axis : {0, 1, 2})
      n.result(n.op("ReduceMean-1", {integers(n, {3, 70, 9}, type), n.indices({axis})}, kept()));
}
void absolute_integers(Net& n) {
  for (const i64 axis : {0, 1, 2})
    n.result(n.op("ReduceL1-4", {integers(n, {30, 7, 90}, "i8"), n.indices({axis})}, kept()));
  n.result(n.op("ReduceL1-4", {integers(n, {3, 7, 90}, "i32"), n.indices({0, 2})}, kept()));
}
void all(Net& n) { n.result(n.op("ReduceLogicalAnd-1", {integers(n, {30, 7, 5}, "boolean"), n.indices({2})}, kept())); }
void any(Net& n) {
  n.result(n.op("ReduceLogicalOr-1", {integers(n, {30, 7, 300}, "boolean"), n.indices({0})}, kept()));
}
/// Sums of products: of rows, of columns, of parts that lie apart, and of a few terms.
void of_products(Net& n, const char* type, const Shape& shape, std::initializer_list<i64> axes) {
  n.result(n.op(type, {n.op("Multiply-1", {n.input(shape), n.input(shape)}), n.indices(axes)}, kept()));
}
void products_of_rows(Net& n) { of_products(n, "ReduceSum-1", {3, 5, 1300}, {2}); }
void products_of_columns(Net& n) { of_products(n, "ReduceMean-1", {2, 150, 90}, {1}); }
void products_of_few_columns(Net& n) { of_products(n, "ReduceSum-1", {2, 700, 20}, {1}); }
void products_apart(Net& n) { of_products(n, "ReduceMean-1", {3, 5, 7, 70}, {0, 2}); }
void products_of_few(Net& n) { of_products(n, "ReduceSum-1", {150, 3}, {1}); }
void products_of_few_inner(Net& n) { of_products(n, "ReduceMean-1", {3, 70, 5, 2}, {2}); }
/// Chains stay as they are, and what broadcasts.
void products_of_chains(Net& n) {
  const auto x = n.input({4, 9, 40}), y = n.input({4, 9, 40});
  n.result(n.op("ReduceSum-1", {n.op("Multiply-1", {n.op("Exp-1", {x}), y}), n.indices({1})}, kept()));
  const auto wide = n.op("Multiply-1", {x, n.input({4, 9, 1})});
  n.result(n.op("ReduceMax-1", {wide, n.indices({1})}, kept()));
}
/// Chains that others need, that are reduced along other axes, or whose results have too many terms.
void of_chains(Net& n) {
  const auto x = n.op("Exp-1", {n.input({4, 9, 40})});
  n.result(n.op("Divide-1", {x, n.op("ReduceSum-1", {x, n.indices({2})}, kept())}));
  n.result(n.op("ReduceMax-1", {n.op("Exp-1", {n.input({4, 9, 40})}), n.indices({1})}, kept()));
  n.result(n.op("ReduceSum-1", {n.op("Exp-1", {n.input({2, 9000})}), n.indices({1})}, kept()));
}

// clang-format off
constexpr Example kExamples[] = {
    {"reduction", mean},
    {"reduction", sum, kOnce, kOpen},
    {"reduction", maximum},
    {"reduction", minimum},
    {"reduction", norm},
    {"reduction", absolute},
    {"reduction", absolute_inner},
    {"reduction", apart},
    {"reduction", apart, kOnce, kOpen},
    {"reduction", apart_rows},
    {"reduction", apart_norm},
    {"reduction", short_rows},
    {"reduction", short_rows, kOnce, kOpen},
    {"reduction", short_mean},
    {"reduction+Multiply", products_of_rows},
    {"reduction+Multiply", products_of_columns},
    {"reduction+Multiply", products_of_few_columns, kOnce},
    {"reduction+Multiply", products_apart},
    {"reduction+Multiply", products_of_few},
    {"reduction+Multiply", products_of_few_inner},
    {"reduction", products_of_chains},
    {"reduction", of_chains},
    {"reduction", short_norm},
    {"reduction", short_extreme},
    {"reduction", short_absolute},
    {"fold", product},
    {"fold", product_apart},
    {"fold", sum_integers, kOften, kFixed, kF32Only},
    {"fold", product_integers, kOften, kFixed, kF32Only},
    {"fold", largest_byte, kOften, kFixed, kF32Only},
    {"fold", least_integer, kOften, kFixed, kF32Only},
    {"fold", mean_integers, kOften, kFixed, kF32Only},
    {"fold", absolute_integers, kOften, kFixed, kF32Only},
    {"fold", all, kOften, kFixed, kF32Only},
    {"fold", any, kOften, kFixed, kF32Only},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"reduction", kExamples};

}  // namespace ovir::testing::patterns::reduction
