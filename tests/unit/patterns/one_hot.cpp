#include "pattern_examples.hpp"

namespace ovir::testing::patterns::one_hot {
namespace {

int integers(Net& n, const Shape& shape, std::string_view type) {
  const auto scaled = n.op("Multiply-1", {n.input(shape), n.numbers({8}, {1})});
  return n.op("Convert-1", {scaled}, {{"destination_type", std::string(type)}});
}
int one_hot(Net& n, int indices, i64 depth, std::string_view axis) {
  return n.op("OneHot-1", {indices, n.index(depth), n.numbers({2}, {}), n.numbers({-1}, {})},
              {{"axis", std::string(axis)}});
}

void last(Net& n) { n.result(one_hot(n, integers(n, {30, 20}, "i64"), 9, "-1")); }
void middle(Net& n) { n.result(one_hot(n, integers(n, {3, 5, 7}, "i32"), 9, "1")); }
void from_end(Net& n) {
  n.result(n.op("OneHot-16", {integers(n, {30}, "i64"), n.index(6), n.index(1), n.index(0)},
                {{"axis", "0"}, {"negative_indices_mode", "normalize"}}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"one_hot", last, kOften, kFixed, kF32Only},
    {"one_hot", last, kOnce, kOpen, kF32Only},
    {"one_hot", middle, kOften, kFixed, kF32Only},
    {"one_hot", from_end, kOften, kFixed, kF32Only},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"one_hot", kExamples};

}  // namespace ovir::testing::patterns::one_hot
