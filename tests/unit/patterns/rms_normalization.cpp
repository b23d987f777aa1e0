#include "pattern_examples.hpp"

namespace ovir::testing::patterns::rms_normalization {
namespace {

int root_mean_square(Net& n, int squares) {
  const auto mean = n.op("ReduceMean-1", {squares, n.indices({-1})}, {{"keep_dims", "true"}});
  return n.op("Sqrt-1", {n.op("Add-1", {mean, n.numbers({1e-5F}, {1, 1})})});
}
void rms_of(Net& n, int x) {
  const auto root = root_mean_square(n, n.op("Power-1", {x, n.numbers({2}, {})}));
  const auto y = n.op("Multiply-1", {x, n.op("Divide-1", {n.numbers({1}, {}), root})});
  n.result(n.op("Multiply-1", {n.weights({37}), y}));
}
void rms(Net& n) { rms_of(n, n.input({3, 37})); }
/// Which of two open lengths the sum has is not known, only that all of this has the same.
void rms_of_residual(Net& n) { rms_of(n, n.op("Add-1", {n.input({3, 37}), n.input({3, 37})})); }
void rms_divided(Net& n) {
  const auto x = n.input({3, 5, 16});
  n.result(n.op("Divide-1", {x, root_mean_square(n, n.op("Multiply-1", {x, x}))}));
}
/// As TensorFlow writes a square root.
void rms_by_powers(Net& n) {
  const auto x = n.input({3, 5, 16});
  const auto mean = n.op("ReduceMean-1", {n.op("Multiply-1", {x, x}), n.indices({-1})}, {{"keep_dims", "true"}});
  const auto root = n.op("Power-1", {n.op("Add-1", {mean, n.numbers({1e-5F}, {})}), n.numbers({0.5F}, {})});
  n.result(n.op("Divide-1", {x, root}));
}
/// As JAX has it: the mean is a sum by the number of terms, x comes last.
void rms_of_sum(Net& n) {
  const auto x = n.input({3, 5, 16});
  const auto sum =
      n.op("ReduceSum-1", {n.op("Power-1", {x, n.numbers({2}, {1, 1, 1})}), n.indices({2})}, {{"keep_dims", "false"}});
  const auto mean = n.op("Reshape-1", {n.op("Multiply-1", {sum, n.numbers({1.0F / 16}, {1, 1})}), n.indices({3, 5, 1})},
                         {{"special_zero", "false"}});
  const auto root = n.op("Sqrt-1", {n.op("Add-1", {mean, n.numbers({1e-5F}, {1, 1, 1})})});
  const auto factor = n.op("Multiply-1", {n.op("Divide-1", {n.numbers({1}, {}), root}), n.weights({1, 1, 16})});
  n.result(n.op("Multiply-1", {x, factor}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"rms_normalization+Multiply", rms},
    {"rms_normalization+Multiply", rms, kOnce, kOpen},
    {"rms_normalization+Multiply", rms_of_residual, kOften, kOpen},
    {"rms_normalization", rms_divided},
    {"rms_normalization", rms_by_powers},
    {"rms_normalization+Multiply", rms_of_sum},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"rms_normalization", kExamples};

}  // namespace ovir::testing::patterns::rms_normalization
