#include "pattern_examples.hpp"

namespace ovir::testing::patterns::slice {
namespace {

int slice(Net& n, int x, i64 start, i64 stop, i64 axis) {
  return n.op("Slice-8", {x, n.indices({start}), n.indices({stop}), n.indices({1}), n.indices({axis})});
}
void rows(Net& n) { n.result(relu(n, slice(n, passing(n, n.input({1, 9, 7, 5})), 2, -1, 1))); }
void columns(Net& n) { n.result(slice(n, n.input({3, 9, 7}), -5, 100, -1)); }
void alone(Net& n) { n.result(slice(n, n.input({3, 9, 7}), 1, 4, 1)); }
/// Channels of a convolution, some of which others read.
void blocks(Net& n) {
  const auto x = relu(n, convolution(n, n.input({2, 24, 5, 6}), {48, 24, 3, 3}, windows(2, 1, 1)));
  n.result(convolution(n, slice(n, x, 16, 48, 1), {17, 32, 1, 1}, windows(2)));
  n.result(slice(n, x, 0, 32, 1));
}
/// All channels, which do not fill their blocks, and those from the second block on.
void partly_filled(Net& n) {
  const auto x = relu(n, convolution(n, n.input({1, 24, 5, 6}), {40, 24, 3, 3}, windows(2, 1, 1)));
  n.result(convolution(n, slice(n, x, 0, 40, 1), {17, 40, 1, 1}, windows(2)));
  n.result(convolution(n, slice(n, x, 16, 40, 1), {17, 24, 1, 1}, windows(2)));
}

// clang-format off
constexpr Example kExamples[] = {
    {"slice", rows},
    {"slice", columns, kOnce},
    {"slice", columns, kOften, kOpen},
    {"slice", alone, kOften, kOpen},
    {"slice", blocks},
    {"slice", partly_filled},
    {"slice", blocks, kOnce},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"slice", kExamples};

}  // namespace ovir::testing::patterns::slice
