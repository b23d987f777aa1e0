#include "pattern_examples.hpp"

namespace ovir::testing::patterns::fake_quantize {
namespace {

void quantize(Net& n) {
  n.result(n.op("FakeQuantize-1",
                {n.input({2, 5, 3, 7}), n.numbers({-0.5F}, {}), n.numbers({0.5F}, {}), n.numbers({-0.5F}, {}),
                 n.numbers({0.5F}, {})},
                {{"levels", "256"}}));
}
void quantize_channels(Net& n) {
  const auto low = n.numbers({-0.5F, -0.25F, -0.125F}, {1, 3, 1}), high = n.numbers({0.5F, 0.25F, 0.125F}, {1, 3, 1});
  n.result(n.op("FakeQuantize-1", {n.input({2, 3, 9}), low, high, low, high}, {{"levels", "16"}}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"quantize", quantize},
    {"quantize", quantize, kOnce, kOpen},
    {"quantize", quantize_channels},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"fake_quantize", kExamples};

}  // namespace ovir::testing::patterns::fake_quantize
