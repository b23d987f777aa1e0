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

// clang-format off
constexpr Example kExamples[] = {
    {"pad", all_sides},
    {"pad", all_sides, kOnce, kOpen},
    {"pad", rows},
    {"pad", nothing},
    {"pad", nothing_alone},
    {"pad", nothing_alone, kOften, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"pad", kExamples};

}  // namespace ovir::testing::patterns::pad
