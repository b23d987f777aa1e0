#include "pattern_examples.hpp"

namespace ovir::testing::patterns::cum_sum {
namespace {

void sums(Net& n, int x, i64 axis, std::string_view exclusive, std::string_view reverse) {
  n.result(
      n.op("CumSum-3", {x, n.index(axis)}, {{"exclusive", std::string(exclusive)}, {"reverse", std::string(reverse)}}));
}
int integers(Net& n, const Shape& shape, std::string_view type) {
  const auto scaled = n.op("Multiply-1", {n.input(shape), n.numbers({20}, {1})});
  return n.op("Convert-1", {scaled}, {{"destination_type", std::string(type)}});
}

void last(Net& n) { sums(n, n.input({3, 6, 50}), -1, "false", "false"); }
void last_back(Net& n) { sums(n, n.input({7, 50}), 1, "true", "true"); }
void first(Net& n) { sums(n, n.input({20, 150}), 0, "false", "true"); }
void middle(Net& n) { sums(n, n.input({2, 9, 7}), 1, "true", "false"); }
void wide(Net& n) { sums(n, integers(n, {5, 30}, "i64"), 1, "false", "false"); }
void narrow(Net& n) { sums(n, integers(n, {40, 30}, "i8"), 0, "true", "false"); }

// clang-format off
constexpr Example kExamples[] = {
    {"running_sum", last},
    {"running_sum", last, kOnce, kOpen},
    {"running_sum", last_back},
    {"running_sum", first},
    {"running_sum", middle},
    {"running_sum", wide, kOften, kFixed, kF32Only},
    {"running_sum", narrow, kOften, kFixed, kF32Only},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"cum_sum", kExamples};

}  // namespace ovir::testing::patterns::cum_sum
