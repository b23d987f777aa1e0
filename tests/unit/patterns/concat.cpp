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

/// What quantized convolutions give and read stays in u8, also in parts that do not fill blocks.
int levels_of(Net& n, int x, i64 outputs) {
  return quantized(n, n.op("Convolution-1", {quantized(n, x), stepped(n, {outputs, 20, 1, 1})}, windows(2)));
}
void levels(Net& n) {
  const auto x = n.input({2, 20, 9, 30});
  const auto parts = n.op("Concat-1", {levels_of(n, x, 48), levels_of(n, x, 40), levels_of(n, x, 70)}, {{"axis", "1"}});
  n.result(n.op("Convolution-1", {parts, stepped(n, {18, 158, 1, 1})}, windows(2)));
}
/// Levels of what is positive begin at 0; a part of whole blocks lies in place.
void levels_from_others(Net& n) {
  const auto x = n.input({1, 20, 9, 30});
  const auto positive = [&](i64 outputs) {
    const auto y = n.op("Convolution-1", {quantized(n, x), stepped(n, {outputs, 20, 1, 1})}, windows(2));
    return quantized(n, relu(n, y));
  };
  const auto parts =
      n.op("Concat-1", {levels_of(n, x, 64), positive(64), positive(29), levels_of(n, x, 7)}, {{"axis", "1"}});
  n.result(n.op("Convolution-1", {parts, stepped(n, {18, 164, 3, 3})}, windows(2, 1, 1)));
}
/// One part is read in f32, too.
void levels_and_f32(Net& n) {
  const auto x = n.input({1, 20, 5, 6});
  const auto part = levels_of(n, x, 48);
  const auto parts = n.op("Concat-1", {part, levels_of(n, x, 21)}, {{"axis", "1"}});
  n.result(n.op("Tanh-1", {part}));
  n.result(n.op("Convolution-1", {parts, stepped(n, {18, 69, 1, 1})}, windows(2)));
}

// clang-format off
constexpr Example kExamples[] = {
    {"concat", concat},
    {"concat", concat_open, kOnce, kOpen},
    {"concat", unequal_channels},
    {"concat", unequal_channels, kOnce},
    {"concat", last_in_part},
    {"concat", plain_part},
    {"concat", levels, kOften, kFixed, true, 1.0F / 64, Precision::int8},
    {"concat", levels_from_others, kOften, kFixed, true, 1.0F / 64, Precision::int8},
    {"concat", levels_and_f32, kOften, kFixed, true, 1.0F / 64, Precision::int8},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"concat", kExamples};

}  // namespace ovir::testing::patterns::concat
