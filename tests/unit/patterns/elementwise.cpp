#include "pattern_examples.hpp"

namespace ovir::testing::patterns::elementwise {
namespace {

void chain(Net& n) {  // operands of every width, one of them twice
  const auto x = n.input({2, 5, 33});
  auto y = n.op("Add-1", {n.op("Multiply-1", {x, n.weights({33})}), n.input({1, 5, 1})});
  y = n.op("Subtract-1", {n.op("Tanh-1", {y}), x});
  n.result(n.op("Maximum-1", {n.op("Sigmoid-1", {y}), n.numbers({0.5F}, {})}));
}
void chain_of_two(Net& n) {
  const auto x = n.input({3, 21}), y = n.input({3, 21});
  n.result(n.op("SquaredDifference-1", {n.op("Exp-1", {x}), n.op("Divide-1", {y, n.numbers({3}, {1})})}));
}
void element(Net& n) { n.result(n.op("SoftPlus-4", {n.input({3, 77})})); }
void element_twice(Net& n) {
  const auto x = n.input({3, 7});
  n.result(n.op("Multiply-1", {x, x}));
}
void grown(Net& n) {  // the output is larger than either operand
  n.result(n.op("Add-1", {n.input({4, 1, 5}), n.weights({3, 1})}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"elementwise.Multiply+Add+Tanh+Subtract+Sigmoid+Maximum", chain},
    {"elementwise.Multiply+Add+Tanh+Subtract+Sigmoid+Maximum", chain, kOnce},
    {"elementwise.Exp+Divide+SquaredDifference", chain_of_two},
    {"elementwise.SquaredDifference", chain_of_two, kOften, kOpen},
    {"elementwise.SoftPlus", element, kOnce, kOpen},
    {"elementwise.Multiply", element_twice},
    {"elementwise.Add", grown, kOften, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"elementwise", kExamples};

}  // namespace ovir::testing::patterns::elementwise
