#include "pattern_examples.hpp"

namespace ovir::testing::patterns::concat {
namespace {

void concat(Net& n) {
  const auto x = n.input({2, 3, 5});
  n.result(n.op("Concat-1", {x, n.input({2, 4, 5}), n.weights({2, 1, 5}), x}, {{"axis", "1"}}));
}
void concat_open(Net& n) { n.result(n.op("Concat-1", {n.input({2, 5}), n.input({2, 7})}, {{"axis", "-1"}})); }
/// Channels of convolutions, of which few fill whole blocks, in front of a convolution and cut into others.
void channels(Net& n, std::initializer_list<i64> counts) {
  std::vector<int> parts;
  i64 all = 0;
  for (const auto count : counts) {
    parts.push_back(relu(n, convolution(n, n.input({2, 8, 5, 7}), {count, 8, 3, 3}, windows(2, 1, 1))));
    all += count;
  }
  const auto y = n.op("Concat-1", parts, {{"axis", "1"}});
  n.result(convolution(n, y, {17, all, 1, 1}, windows(2)));
  n.result(convolution(n, parts[0], {9, *counts.begin(), 1, 1}, windows(2)));
}
void unequal_channels(Net& n) { channels(n, {24, 12, 8, 36, 9, 16}); }
void last_in_part(Net& n) { channels(n, {32, 24}); }
/// One part is an input of the model, so plain.
void plain_part(Net& n) {
  const auto x = relu(n, convolution(n, n.input({1, 8, 19, 23}), {20, 8, 3, 3}, windows(2, 1, 1)));
  const auto y = n.op("Concat-1", {x, n.input({1, 11, 19, 23})}, {{"axis", "1"}});
  n.result(convolution(n, y, {17, 31, 1, 1}, windows(2)));
}

// clang-format off
constexpr Example kExamples[] = {
    {"concat", concat},
    {"concat", concat_open, kOnce, kOpen},
    {"concat", unequal_channels},
    {"concat", unequal_channels, kOnce},
    {"concat", last_in_part},
    {"concat", plain_part},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"concat", kExamples};

}  // namespace ovir::testing::patterns::concat
