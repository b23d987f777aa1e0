#include "pattern_examples.hpp"

namespace ovir::testing::patterns::chain_reduction {
namespace {

int reduced(Net& n, std::string_view type, int x, std::initializer_list<i64> axes, bool kept = false) {
  return n.op(type, {x, n.indices(axes)}, {{"keep_dims", kept ? "true" : "false"}});
}
int squared(Net& n, int x) { return n.op("Power-1", {x, n.numbers({2}, {})}); }

void distances(Net& n) {  // of all to all
  const auto difference = n.op("Subtract-1", {n.input({2, 150, 1, 33}), n.input({1, 1, 70, 33})});
  n.result(reduced(n, "ReduceSum-1", squared(n, difference), {-1}));
}
void nearest(Net& n) {  // of few numbers
  const auto difference = n.op("Subtract-1", {n.input({300, 1, 3}), n.input({40, 3})});
  n.result(n.op("Sqrt-1", {reduced(n, "ReduceSum-1", n.op("Abs-1", {difference}), {2})}));
}
void gated(Net& n) {  // two axes, and an operand that all share
  const auto x = n.op("Multiply-1", {n.op("Sigmoid-1", {n.input({5, 9, 20, 21})}), n.input({9, 1, 21})});
  n.result(reduced(n, "ReduceMean-1", n.op("Multiply-1", {x, n.numbers({1.5F}, {})}), {2, 3}, true));
}
void extremes(Net& n) {
  const auto x = n.op("Multiply-1", {n.input({7, 3, 1000}), n.input({7, 1, 1})});
  const auto y = n.op("Maximum-1", {n.input({7, 3, 1000}), n.numbers({-0.5F}, {1})});
  n.result(n.op("Subtract-1", {reduced(n, "ReduceMax-1", x, {-1}), reduced(n, "ReduceMin-1", y, {-1})}));
}
void norms(Net& n) {
  const auto x = n.op("Exp-1", {n.input({6, 40, 5})}), y = n.op("Add-1", {n.input({6, 40, 5}), n.input({40, 1})});
  n.result(n.op("Add-1", {reduced(n, "ReduceL2-4", x, {1, 2}), reduced(n, "ReduceL1-4", y, {2, 1})}));
}
void all_axes(Net& n) {
  n.result(reduced(n, "ReduceMean-1", squared(n, n.op("Subtract-1", {n.input({33, 70}), n.input({33, 70})})), {0, 1}));
}
// clang-format off
constexpr Example kExamples[] = {
    {"chain_reduction.Subtract+Power", distances},
    {"chain_reduction.Subtract+Power", distances, kOnce},
    {"chain_reduction.Subtract+Abs", nearest},
    {"chain_reduction.Sigmoid+Multiply+Multiply", gated},
    {"chain_reduction.Multiply", extremes},
    {"chain_reduction.Maximum", extremes},
    {"chain_reduction.Exp", norms},
    {"chain_reduction.Add", norms},
    {"chain_reduction.Subtract+Power", all_axes},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"chain_reduction", kExamples};

}  // namespace ovir::testing::patterns::chain_reduction
