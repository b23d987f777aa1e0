#include "pattern_examples.hpp"

namespace ovir::testing::patterns::concat {
namespace {

void concat(Net& n) {
  const auto x = n.input({2, 3, 5});
  n.result(n.op("Concat-1", {x, n.input({2, 4, 5}), n.weights({2, 1, 5}), x}, {{"axis", "1"}}));
}
void concat_open(Net& n) { n.result(n.op("Concat-1", {n.input({2, 5}), n.input({2, 7})}, {{"axis", "-1"}})); }

// clang-format off
constexpr Example kExamples[] = {
    {"concat", concat},
    {"concat", concat_open, kOnce, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"concat", kExamples};

}  // namespace ovir::testing::patterns::concat
