#include "pattern_examples.hpp"

namespace ovir::testing::patterns::pixel_shuffle {
namespace {

int shuffled(Net& n, int x, i64 batch, i64 channels, i64 scale, i64 height, i64 width) {
  const auto parts =
      n.op("Reshape-1", {x, n.indices({batch, channels, scale, scale, height, width})}, {{"special_zero", "false"}});
  const auto moved = n.op("Transpose-1", {parts, n.indices({0, 1, 4, 2, 5, 3})});
  return n.op("Reshape-1", {moved, n.indices({batch, channels, height * scale, width * scale})},
              {{"special_zero", "false"}});
}

void plain(Net& n) { n.result(shuffled(n, n.input({2, 12, 5, 7}), 2, 3, 2, 5, 7)); }
/// Between convolutions, which keep values blocked.
template <i64 channels, i64 scale>
void blocked(Net& n) {
  const auto x = convolution(n, n.input({2, 17, 6, 5}), {channels * scale * scale, 17, 1, 1}, windows(2));
  n.result(convolution(n, shuffled(n, x, 2, channels, scale, 6, 5), {18, channels, 1, 1}, windows(2)));
}
/// What comes is blocked, what goes is not, or the other way.
void blocked_in(Net& n) {
  const auto x = convolution(n, n.input({1, 17, 6, 5}), {27, 17, 1, 1}, windows(2));
  n.result(shuffled(n, x, 1, 3, 3, 6, 5));
}
void blocked_out(Net& n) {
  n.result(convolution(n, shuffled(n, n.input({1, 80, 6, 5}), 1, 20, 2, 6, 5), {18, 20, 1, 1}, windows(2)));
}

// clang-format off
constexpr Example kExamples[] = {
    {"pixel_shuffle", plain},
    {"pixel_shuffle", blocked<32, 2>},
    {"pixel_shuffle", blocked<21, 2>, kOnce},
    {"pixel_shuffle", blocked<20, 3>},
    {"pixel_shuffle", blocked_in},
    {"pixel_shuffle", blocked_out, kOnce},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"pixel_shuffle", kExamples};

}  // namespace ovir::testing::patterns::pixel_shuffle
