#include "pattern_examples.hpp"

namespace ovir::testing::patterns::pad {
namespace {

int padded(Net& n, int x, std::initializer_list<i64> begin, std::initializer_list<i64> end, float value) {
  return n.op("Pad-12", {x, n.indices(begin), n.indices(end), n.numbers({value}, {})}, {{"pad_mode", "constant"}});
}
void all_sides(Net& n) { n.result(padded(n, n.input({2, 3, 4, 5}), {1, 0, 2, 3}, {0, 1, 1, 2}, 0.5)); }
void rows(Net& n) { n.result(relu(n, padded(n, relu(n, n.input({1, 9, 7, 6})), {0, 2, 0, 0}, {0, 1, 0, 0}, -1))); }
void nothing(Net& n) {
  const auto x = relu(n, n.input({2, 9, 7}));
  n.result(relu(n, padded(n, x, {0, 0, 0}, {0, 0, 0}, 3)));
  n.result(relu(n, x));
}
void nothing_alone(Net& n) { n.result(padded(n, n.input({2, 9, 7}), {0, 0, 0}, {0, 0, 0}, 3)); }

int beside(Net& n, int x, std::initializer_list<i64> begin, std::initializer_list<i64> end, const char* mode) {
  return n.op("Pad-12", {x, n.indices(begin), n.indices(end)}, {{"pad_mode", mode}});
}
void edge(Net& n) { n.result(beside(n, n.input({2, 3, 4, 5}), {1, 0, 2, 3}, {0, 1, 1, 2}, "edge")); }
void reflect(Net& n) { n.result(beside(n, n.input({3, 4, 5, 2}), {0, 2, 4, 0}, {0, 1, 0, 1}, "reflect")); }
void symmetric(Net& n) { n.result(beside(n, n.input({3, 4, 5, 2}), {3, 2, 0, 0}, {1, 4, 2, 0}, "symmetric")); }
/// Between convolutions, which keep values blocked, and before one that an input comes to.
void reflect_blocked(Net& n) {
  const auto x = convolution(n, n.input({2, 17, 6, 7}), {20, 17, 1, 1}, windows(2));
  n.result(convolution(n, beside(n, x, {0, 0, 1, 2}, {0, 0, 2, 3}, "reflect"), {18, 20, 3, 3}, windows(2)));
}
void edge_blocked(Net& n) {
  n.result(convolution(n, beside(n, n.input({1, 33, 9}), {0, 0, 3}, {0, 0, 0}, "edge"), {16, 33, 3}, windows(1)));
}
void zeros_blocked(Net& n) {
  const auto x = convolution(n, n.input({1, 17, 3, 6, 7}), {20, 17, 1, 1, 1}, windows(3));
  n.result(convolution(n, padded(n, x, {0, 0, 1, 0, 2}, {0, 0, 0, 2, 3}, 0), {18, 20, 3, 3, 3}, windows(3)));
}
void bytes(Net& n) {
  const int x = n.op("Convert-1", {n.input({2, 9, 7})}, {{"destination_type", "u8"}}),
            value = n.op("Convert-1", {n.numbers({7}, {})}, {{"destination_type", "u8"}});
  n.result(n.op("Pad-12", {x, n.indices({0, 1, 2}), n.indices({1, 0, 3}), value}, {{"pad_mode", "constant"}}));
}
void integers(Net& n) {
  const int x = n.op("Convert-1", {n.input({2, 9, 7})}, {{"destination_type", "i64"}});
  n.result(beside(n, x, {0, 3, 2}, {0, 2, 0}, "reflect"));
}

// clang-format off
constexpr Example kExamples[] = {
    {"pad", all_sides},
    {"pad", all_sides, kOnce, kOpen},
    {"pad", rows},
    {"pad", nothing},
    {"pad", nothing_alone},
    {"pad", nothing_alone, kOften, kOpen},
    {"pad", edge},
    {"pad", edge, kOnce, kOpen},
    {"pad", reflect},
    {"pad", reflect, kOften, kOpen},
    {"pad", symmetric},
    {"pad", reflect_blocked},
    {"pad", reflect_blocked, kOnce},
    {"pad", edge_blocked},
    {"pad", zeros_blocked},
    {"pad", bytes, kOften, kFixed, kF32Only},
    {"pad", integers, kOften, kOpen, kF32Only},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"pad", kExamples};

}  // namespace ovir::testing::patterns::pad
