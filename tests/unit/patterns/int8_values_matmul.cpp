#include "pattern_examples.hpp"

namespace ovir::testing::patterns::int8_values_matmul {
namespace {

/// Levels 1/64 apart of which 0 is number `zero`.
int on_levels(Net& n, int x, float zero, float levels = 256) {
  const auto low = n.numbers({-zero / 64}, {}), high = n.numbers({(levels - 1 - zero) / 64}, {});
  return n.op("FakeQuantize-1", {x, low, high, low, high}, {{"levels", std::to_string(static_cast<int>(levels))}});
}

void rows_by_columns(Net& n) {
  n.result(matmul(n, quantized(n, n.input({2, 3, 35, 40})), quantized(n, n.input({2, 3, 40, 33}))));
}
void rows_by_rows(Net& n) {
  n.result(matmul(n, quantized(n, n.input({2, 3, 35, 64})), quantized(n, n.input({2, 3, 64, 64})), true));
}
/// Neither 0 is the middle level, and steps are no whole words.
void other_zeros(Net& n) {
  n.result(matmul(n, on_levels(n, n.input({2, 29, 141}), 90), on_levels(n, n.input({2, 70, 141}), 40, 110), true));
}
void one_matrix(Net& n) {
  n.result(matmul(n, on_levels(n, n.input({2, 19, 36}), 100), on_levels(n, n.input({36, 50}), 70)));
}
void broadcast(Net& n) {
  n.result(matmul(n, quantized(n, n.input({2, 1, 19, 36})), on_levels(n, n.input({2, 3, 36, 17}), 60)));
}
void quantized_result(Net& n) {
  const auto y = matmul(n, quantized(n, n.input({2, 35, 40})), on_levels(n, n.input({2, 40, 45}), 120));
  n.result(relu(n, quantized(n, y)));
}
/// Levels of one product are those of the next.
void chain(Net& n) {
  const auto a = quantized(n, matmul(n, quantized(n, n.input({2, 35, 40})), quantized(n, n.input({2, 40, 48}))));
  n.result(matmul(n, a, quantized(n, n.input({2, 21, 48})), true));
}

/// A value on the border of two levels may be rounded otherwise than in f32.
constexpr float kLevel = 1.0F / 64;

// clang-format off
constexpr Example kExamples[] = {
    {"int8.values.matmul", rows_by_columns, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.values.matmul", rows_by_columns, kOnce, kOpen, true, 5e-6F, Precision::int8},
    {"int8.values.matmul", rows_by_rows, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.values.matmul", other_zeros, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.values.matmul", one_matrix, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.values.matmul", broadcast, kOnce, kFixed, true, 5e-6F, Precision::int8},
    {"int8.values.matmul+FakeQuantize", quantized_result, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8.values.matmul+FakeQuantize", chain, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8.values.matmul", chain, kOnce, kOpen, true, kLevel, Precision::int8},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"int8_values_matmul", kExamples};

}  // namespace ovir::testing::patterns::int8_values_matmul
