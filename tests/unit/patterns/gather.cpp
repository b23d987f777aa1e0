#include "pattern_examples.hpp"

namespace ovir::testing::patterns::gather {
namespace {

void rows(Net& n, const char* version, ElementType type) {
  const auto table = narrow_weights(n, {9, 40, 50}, type);
  n.result(n.op("Relu-1", {n.op(version, {table, n.indices({3, 0, 8, 3, -1, -9, 40, -10}), n.index(0)})}));
}
/// Negative indices count from the end, others are out of range: what is out of range is 0.
void rows_from_end(Net& n) { rows(n, "Gather-8", ElementType::f16); }
void rows_of_bf16(Net& n) { rows(n, "Gather-8", ElementType::bf16); }
void rows_often(Net& n) {
  n.result(n.op("Gather-8", {narrow_weights(n, {9, 40, 50}, ElementType::bf16), lengths(n), n.index(0)}));
}
void rows_in_range(Net& n) { rows(n, "Gather-7", ElementType::f16); }
void rows_given(Net& n) { n.result(n.op("Gather-1", {narrow_weights(n, {60, 300}), lengths(n), n.index(-2)})); }
void tied(Net& n) {  // a language model's table, which gives its logits too
  const auto table = narrow_weights(n, {130, 150});
  const auto x = n.op("Gather-8", {table, lengths(n), n.index(0)});
  n.result(matmul(n, x, table, true));
}
int gather(Net& n, int x, int at, i64 axis, std::string_view batch_dims = "0") {
  return n.op("Gather-8", {x, at, n.index(axis)}, {{"batch_dims", std::string(batch_dims)}});
}
void along_last(Net& n) { n.result(gather(n, relu(n, n.input({3, 7, 300})), n.indices({299, -1, 5, 5, 300}), -1)); }
void along_middle(Net& n) { n.result(relu(n, gather(n, n.input({3, 40, 5}), n.indices({1, -39, 7}), 1))); }
void given(Net& n) { n.result(gather(n, n.input({4, 300}), lengths(n), 0)); }
void by_batch(Net& n) {
  Tensor t(ElementType::i64, {2, 3});
  for (i64 i = 0; i < t.size(); ++i) t.mutable_data<i64>()[i] = i - 3;
  const int at = n.constant(t);
  n.result(gather(n, n.input({2, 5, 6, 9}), at, 2, "1"));
}
void integers(Net& n) {
  const auto x = n.op("Convert-1", {n.input({4, 30, 3})}, {{"destination_type", "u8"}});
  n.result(gather(n, x, n.indices({29, 0, 4}), 1));
}
/// Of constants, which are read as they lie.
void tables(Net& n) {
  const auto at = n.indices({299, -1, 5, 5, 300});
  for (const i64 columns : {1, 2, 4, 5}) n.result(relu(n, gather(n, n.weights({300, columns}), at, 0)));
  n.result(gather(n, n.weights({3, 40, 2}), lengths(n), 1));
}
void tables_given(Net& n) {
  for (const i64 columns : {1, 2, 4, 5}) n.result(relu(n, gather(n, n.weights({300, columns}), lengths(n), 0)));
}
/// Numbers of pixels in another order, or one of them twice.
void pixels(Net& n) {
  n.result(gather(n, n.input({2, 5, 7, 3}), n.indices({2, 1, 0}), 3));
  n.result(gather(n, n.input({9, 4}), n.indices({-1, 3, 0, 1}), 1));
  n.result(gather(n, n.input({9, 2}), n.indices({1, 0}), 1));
}
void pixels_of_bytes(Net& n) {
  const auto bytes = [&](const PartialShape& shape) {
    const int x = n.op("Multiply-1", {n.input(shape), n.numbers({100}, {})});
    return n.op("Convert-1", {n.op("Abs-1", {x})}, {{"destination_type", "u8"}});
  };
  n.result(gather(n, bytes({2, 5, 7, 3}), n.indices({2, 1, 0}), 3));
  n.result(gather(n, bytes({19, 4}), n.indices({-1, 3, 0, 1}), 1));
  n.result(gather(n, bytes({19, 2}), n.indices({1, 0}), 1));
}

// clang-format off
constexpr Example kExamples[] = {
    {"narrow.gather", rows_from_end, kOnce, kFixed, kF32Only},
    {"narrow.gather", rows_of_bf16, kOnce, kFixed, kF32Only},
    {"narrow.gather", rows_often, kOften, kFixed, kF32Only},
    {"narrow.gather", rows_in_range, kOnce, kFixed, kF32Only},
    {"narrow.gather", rows_given, kOnce, kFixed, kF32Only},
    {"narrow.gather", tied, kOften, kFixed, kF32Only},
    {"narrow.gather", tied, kOnce, kFixed, kF32Only},
    {"gather", along_last},
    {"gather", along_last, kOnce, kOpen},
    {"gather", along_middle},
    {"gather", pixels},
    {"gather", pixels_of_bytes, kOften, kFixed, kF32Only},
    {"gather", given, kOnce},
    {"gather", by_batch},
    {"gather", tables, kOnce, kFixed, kF32Only},
    {"gather", tables_given, kOften, kFixed, kF32Only},
    {"gather", tables_given, kOnce, kFixed, kF32Only},
    {"gather", integers, kOften, kFixed, kF32Only},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"gather", kExamples};

}  // namespace ovir::testing::patterns::gather
