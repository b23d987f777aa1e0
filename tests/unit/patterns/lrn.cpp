#include "pattern_examples.hpp"

namespace ovir::testing::patterns::lrn {
namespace {

void normalized(Net& n, const Shape& shape, i64 axis, std::string_view beta, std::string_view size) {
  n.result(n.op("LRN-1", {n.input(shape), n.indices({axis})},
                {{"alpha", "0.5"}, {"beta", std::string(beta)}, {"bias", "1.5"}, {"size", std::string(size)}}));
}
void channels(Net& n) { normalized(n, {2, 20, 9, 31}, 1, "0.75", "5"); }
void wide(Net& n) { normalized(n, {2, 4, 3, 5}, 1, "0.6", "30"); }
void rows(Net& n) { normalized(n, {3, 40}, -1, "1", "3"); }
void plane(Net& n) {
  n.result(n.op("LRN-1", {n.input({2, 3, 9, 20}), n.indices({3, 2})},
                {{"alpha", "0.5"}, {"beta", "0.75"}, {"bias", "1"}, {"size", "5"}}));
}
void root(Net& n) { normalized(n, {2, 6, 7}, 1, "0.5", "2"); }

// clang-format off
constexpr Example kExamples[] = {
    {"lrn", channels},
    {"lrn", channels, kOnce, kOpen},
    {"lrn", wide},
    {"lrn", rows},
    {"lrn", plane},
    {"lrn", root},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"lrn", kExamples};

}  // namespace ovir::testing::patterns::lrn
