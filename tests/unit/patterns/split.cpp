#include "pattern_examples.hpp"

namespace ovir::testing::patterns::split {
namespace {

void split(Net& n) {
  const auto y = n.op("Split-1", {n.input({2, 6, 5}), n.index(1)}, {{"num_splits", "3"}}, 3);
  for (int port = 0; port < 3; ++port) n.result(y, port);
}
void variadic_split(Net& n) {
  const auto y = n.op("VariadicSplit-1", {n.input({2, 6, 5}), n.index(-1), n.indices({1, -1, 2})}, {}, 3);
  for (int port = 0; port < 3; ++port) n.result(y, port);
}

// clang-format off
constexpr Example kExamples[] = {
    {"split", split},
    {"split", variadic_split, kOnce, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"split", kExamples};

}  // namespace ovir::testing::patterns::split
