#include "pattern_examples.hpp"

namespace ovir::testing::patterns::int8_matmul {
namespace {

/// As quantized(), without negative numbers: level 0 is 0. Those of the tests are between -0.5 and 0.5.
int positive(Net& n, int x) {
  const auto low = n.numbers({0}, {}), high = n.numbers({255.0F / 64}, {});
  return n.op("FakeQuantize-1", {x, low, high, low, high}, {{"levels", "256"}});
}
/// The same on both sides of 0, 255 levels.
int symmetric(Net& n, int x) {
  const auto low = n.numbers({-127.0F / 64}, {}), high = n.numbers({127.0F / 64}, {});
  return n.op("FakeQuantize-1", {x, low, high, low, high}, {{"levels", "255"}});
}

void exact(Net& n) { n.result(matmul(n, quantized(n, n.input({2, 9, 40})), stepped(n, {35, 40}), true)); }
void exact_positive(Net& n) { n.result(matmul(n, positive(n, n.input({5, 37})), stepped(n, {37, 70}))); }
void exact_symmetric(Net& n) {
  const auto y = matmul(n, symmetric(n, n.input({2, 9, 130})), stepped(n, {130, 64}));
  n.result(relu(n, n.op("Add-1", {y, n.weights({64})})));
}
/// Codes of u8 and i8 with a zero point, a step for each of the columns or for all.
int codes(Net& n, const Shape& shape, const Shape& columns, ElementType type, float zero) {
  std::vector<float> values(static_cast<std::size_t>(shape.count())), zeros(static_cast<std::size_t>(columns.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = zero - 100 + static_cast<float>(i * 37 % 201);
  for (std::size_t i = 0; i < zeros.size(); ++i) zeros[i] = zero + static_cast<float>(i % 20);
  const auto whole = [&](const Shape& s, const std::vector<float>& of) {
    return n.op("Convert-1", {n.constant(convert(floats(s, of), type))},
                {{"destination_type", std::string(name(n.type()))}});
  };
  const auto from_zero = n.op("Subtract-1", {whole(shape, values), whole(columns, zeros)});
  return n.op("Multiply-1", {from_zero, n.weights(columns, 1.0F / 64)});
}
void zero_points(Net& n) {
  n.result(matmul(n, quantized(n, n.input({7, 44})), codes(n, {44, 33}, {1, 33}, ElementType::u8, 105)));
}
void zero_points_of_rows(Net& n) {
  n.result(matmul(n, quantized(n, n.input({7, 44})), codes(n, {33, 44}, {33, 1}, ElementType::i8, -5), true));
}
/// A constant of f32 that a FakeQuantize has brought onto levels by column.
void fake_quantized_weights(Net& n) {
  const auto low = n.numbers({-0.5F}, {1, 1}), high = n.numbers({127.0F / 256}, {1, 1});
  const auto weights = n.op("FakeQuantize-1", {n.weights({40, 33}), low, high, low, high}, {{"levels", "256"}});
  n.result(matmul(n, quantized(n, n.input({7, 40})), weights));
}
int gelu(Net& n, int x) { return n.op("Gelu-7", {x}, {{"approximation_mode", "ERF"}}); }
int biased_rows(Net& n, int x, i64 columns) { return n.op("Add-1", {x, n.weights({columns})}); }
/// What stays in u8 between two products, the second with a residual of f32.
void feed_forward(Net& n) {
  const auto x = n.input({1, 20, 64});
  const auto inner = gelu(n, biased_rows(n, matmul(n, quantized(n, x), stepped(n, {96, 64}), true), 96));
  const auto y = matmul(n, quantized(n, inner), stepped(n, {64, 96}), true);
  n.result(softmax(n, n.op("Add-1", {biased_rows(n, y, 64), passing(n, x)})));
}
/// Values that are multiplied by column before they become levels.
void scaled_levels(Net& n) {
  const auto y = gelu(n, matmul(n, quantized(n, n.input({1, 20, 64})), stepped(n, {96, 64}), true));
  n.result(quantized(n, n.op("Multiply-1", {y, n.weights({1, 1, 96})})));
}
void relu_levels(Net& n) {
  const auto y = relu(n, biased_rows(n, matmul(n, quantized(n, n.input({40, 64})), stepped(n, {64, 64})), 64));
  n.result(softmax(n, matmul(n, positive(n, y), stepped(n, {64, 32}))));
}
/// More weights than each thread had better read: the rows are shared out otherwise.
void large(Net& n) { n.result(matmul(n, quantized(n, n.input({50, 400})), stepped(n, {500, 400}), true)); }

/// A value on the border of two levels may be rounded otherwise than in f32.
constexpr float kLevel = 1.0F / 64;

// clang-format off
constexpr Example kExamples[] = {
    {"int8.matmul", exact, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.matmul", exact_positive, kOnce, kOpen, true, 5e-6F, Precision::int8},
    {"int8.matmul+bias+Relu", exact_symmetric, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.matmul", zero_points, kOften, kFixed, true, 5e-6F, Precision::int8},
    {"int8.matmul", zero_points_of_rows, kOnce, kFixed, true, 5e-6F, Precision::int8},
    {"int8.matmul", fake_quantized_weights, kOften, kFixed, false, 5e-6F, Precision::int8},
    {"int8.matmul+bias+Gelu+FakeQuantize", feed_forward, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8.matmul+bias+residual", feed_forward, kOnce, kFixed, true, kLevel, Precision::int8},
    {"int8.matmul+Gelu+scale+FakeQuantize", scaled_levels, kOften, kFixed, true, kLevel, Precision::int8},
    {"int8.matmul+bias+Relu+FakeQuantize", relu_levels, kOnce, kFixed, true, kLevel, Precision::int8},
    {"int8.matmul", large, kOften, kFixed, true, 5e-6F, Precision::int8},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"int8_matmul", kExamples};

}  // namespace ovir::testing::patterns::int8_matmul
