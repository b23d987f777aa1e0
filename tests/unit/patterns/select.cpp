#include "pattern_examples.hpp"

namespace ovir::testing::patterns::select {
namespace {

int select(Net& n, const PartialShape& mask, int a, int b) {
  const auto cond = n.op("Less-1", {n.input(mask), n.numbers({0}, {})});
  return n.op("Select-1", {cond, a, b});
}

void scores(Net& n) { n.result(select(n, {1, 1, 9, 21}, n.numbers({-9}, {}), n.input({1, 3, 9, 21}))); }
void over(Net& n) {
  const auto x = passing(n, n.input({2, 5, 40}));
  n.result(relu(n, select(n, {2, 5, 1}, x, n.numbers({0.5F}, {1}))));
}
void wider(Net& n) { n.result(select(n, {2, 3, 1, 7}, n.input({1, 4, 1}), n.input({1, 1, 7}))); }
void one_axis(Net& n) { n.result(select(n, {100}, n.input({100}), n.input({100}))); }

// clang-format off
constexpr Example kExamples[] = {
    {"select", scores},
    {"select", scores, kOnce},
    {"select", over},
    {"select", over, kOften, kOpen},
    {"select", wider},
    {"select", one_axis},
    {"select", one_axis, kOften, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"select", kExamples};

}  // namespace ovir::testing::patterns::select
