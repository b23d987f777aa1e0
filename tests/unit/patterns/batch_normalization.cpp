#include "pattern_examples.hpp"

namespace ovir::testing::patterns::batch_normalization {
namespace {

int normalize(Net& n, int x, i64 channels) {
  const auto variance =
      n.constant(convert(floats({channels}, std::vector<float>(static_cast<std::size_t>(channels), 0.75F)), n.type()));
  return n.op("BatchNormInference-5",
              {x, n.weights({channels}), n.weights({channels}), n.weights({channels}), variance},
              {{"epsilon", "0.001"}});
}
void plane(Net& n) { n.result(normalize(n, n.input({2, 5, 9, 7}), 5)); }
void row(Net& n) { n.result(normalize(n, n.input({3, 21}), 21)); }
void blocked(Net& n) {
  const auto x = convolution(n, n.input({1, 32, 7, 6}), {32, 32, 3, 3}, windows(2, 1, 1));
  n.result(convolution(n, relu(n, normalize(n, passing(n, x), 32)), {32, 32, 3, 3}, windows(2, 1, 1)));
}

// clang-format off
constexpr Example kExamples[] = {
    {"batch_normalization", plane},
    {"batch_normalization", plane, kOnce, kOpen},
    {"batch_normalization", row},
    {"batch_normalization", blocked},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"batch_normalization", kExamples};

}  // namespace ovir::testing::patterns::batch_normalization
