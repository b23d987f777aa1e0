#include "pattern_examples.hpp"

namespace ovir::testing::patterns::split {
namespace {

void split(Net& n) {
  const auto y = n.op("Split-1", {n.input({2, 6, 5}), n.index(1)}, {{"num_splits", "3"}}, 3);
  for (int port = 0; port < 3; ++port) n.result(y, port);
}
void variadic_split(Net& n) {
  const auto y = n.op("VariadicSplit-1", {n.input({2, 6, 5}), n.index(-1), n.indices({1, -1, 2})}, {}, 3);
  for (int port = 0; port < 3; ++port) n.result(y, port);
}

/// Parts of levels that do not fill blocks of 64: one for a convolution, the others in f32.
void levels(Net& n) {
  const auto x =
      n.op("Convolution-1", {quantized(n, n.input({2, 20, 9, 30})), stepped(n, {112, 20, 1, 1})}, windows(2));
  const auto parts = n.op("VariadicSplit-1", {quantized(n, x), n.index(1), n.indices({40, 48, 24})}, {}, 3);
  n.result(n.op("Convolution-1", {parts, stepped(n, {18, 40, 1, 1})}, windows(2)));
  n.result(parts, 1);
  n.result(parts, 2);
}

/// Whole blocks of levels lie in place.
void levels_in_blocks(Net& n) {
  const auto x =
      n.op("Convolution-1", {quantized(n, n.input({1, 20, 9, 30})), stepped(n, {148, 20, 1, 1})}, windows(2));
  const auto parts = n.op("VariadicSplit-1", {quantized(n, x), n.index(1), n.indices({64, 84})}, {}, 2);
  n.result(n.op("Convolution-1", {parts, stepped(n, {18, 64, 1, 1})}, windows(2)));
  n.result(parts, 1);
}

// clang-format off
constexpr Example kExamples[] = {
    {"split", split},
    {"split", variadic_split, kOnce, kOpen},
    {"split", levels_in_blocks, kOften, kFixed, true, 1.0F / 64, Precision::int8},
    {"split", levels, kOften, kFixed, true, 1.0F / 64, Precision::int8},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"split", kExamples};

}  // namespace ovir::testing::patterns::split
