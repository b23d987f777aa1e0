#include "pattern_examples.hpp"

namespace ovir::testing::patterns::broadcast {
namespace {

int broadcast(Net& n, int x, std::initializer_list<i64> to) {
  return n.op("Broadcast-3", {x, n.indices(to)}, {{"mode", "numpy"}});
}
void passed(Net& n) { n.result(relu(n, broadcast(n, passing(n, n.input({2, 9, 7})), {2, 9, 7}))); }
void alone(Net& n) { n.result(broadcast(n, n.input({2, 9, 7}), {2, 9, 7})); }
/// Its input is read elsewhere, too.
void kept(Net& n) {
  const auto x = relu(n, n.input({2, 9, 7}));
  n.result(relu(n, broadcast(n, x, {2, 9, 7})));
  n.result(relu(n, x));
}

// clang-format off
constexpr Example kExamples[] = {
    {"broadcast", passed},
    {"broadcast", alone, kOnce},
    {"broadcast", kept},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"broadcast", kExamples};

}  // namespace ovir::testing::patterns::broadcast
