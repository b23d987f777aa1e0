#include "pattern_examples.hpp"

namespace ovir::testing::patterns::int8_gate {
namespace {

constexpr float kLevel = 1.0F / 64;

/// Squeeze and excitation of a convolution's levels.
void of_levels(Net& n) {
  const auto y = n.op("Convolution-1", {quantized(n, n.input({2, 20, 9, 11})), stepped(n, {70, 20, 1, 1})}, windows(2));
  const auto x = quantized(n, y);
  const auto mean = n.op("ReduceMean-1", {x, n.indices({2, 3})}, {{"keep_dims", "true"}});
  const auto gate = n.op("Sigmoid-1", {convolution(n, mean, {70, 70, 1, 1}, windows(2))});
  const auto z = quantized(n, n.op("Multiply-1", {x, gate}));
  n.result(n.op("Convolution-1", {z, stepped(n, {18, 70, 1, 1})}, windows(2)));
}
void of_f32(Net& n) {  // the gate comes first, and is the same for all images; levels become f32
  const auto gate = n.op("Sigmoid-1", {n.input({1, 24, 1, 1})});
  n.result(quantized(n, n.op("Multiply-1", {gate, n.input({1, 24, 7, 5})})));
}

// clang-format off
constexpr Example kExamples[] = {
    {"int8.gate+quantize", of_levels, kOften, kFixed, true, 2 * kLevel, Precision::int8},
    {"int8.gate+quantize", of_f32, kOnce, kFixed, true, kLevel, Precision::int8},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"int8_gate", kExamples};

}  // namespace ovir::testing::patterns::int8_gate
