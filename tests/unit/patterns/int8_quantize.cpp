#include "pattern_examples.hpp"

namespace ovir::testing::patterns::int8_quantize {
namespace {

void by_itself(Net& n) { n.result(quantized(n, n.input({2, 70, 5, 3}))); }
void before_convolutions(Net& n) {
  const auto x = quantized(n, n.input({1, 32, 6, 5}));
  n.result(n.op("Convolution-1", {x, stepped(n, {18, 32, 1, 1})}, windows(2)));
  n.result(n.op("Convolution-1", {x, stepped(n, {17, 32, 3, 3})}, windows(2, 1, 1)));
}

// clang-format off
constexpr Example kExamples[] = {
    {"int8.quantize", by_itself, kOnce, kFixed, true, 5e-6F, Precision::int8},
    {"int8.quantize", before_convolutions, kOften, kFixed, true, 5e-6F, Precision::int8},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"int8_quantize", kExamples};

}  // namespace ovir::testing::patterns::int8_quantize
