#include "pattern_examples.hpp"

namespace ovir::testing::patterns::normalize_l2 {
namespace {

void normalized(Net& n, const Shape& shape, std::initializer_list<i64> axes, std::string_view mode) {
  n.result(
      n.op("NormalizeL2-1", {n.input(shape), n.indices(axes)}, {{"eps", "0.01"}, {"eps_mode", std::string(mode)}}));
}
void channels(Net& n) { normalized(n, {2, 70, 9, 13}, {1}, "add"); }
void few(Net& n) { normalized(n, {2, 3, 5, 7}, {1}, "max"); }
void rows(Net& n) { normalized(n, {5, 1100}, {-1}, "add"); }
void all(Net& n) { normalized(n, {3, 6, 5, 4}, {3, 1, 2}, "max"); }

// clang-format off
constexpr Example kExamples[] = {
    {"normalize_l2", channels},
    {"normalize_l2", channels, kOnce, kOpen},
    {"normalize_l2", few},
    {"normalize_l2", rows},
    {"normalize_l2", all},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"normalize_l2", kExamples};

}  // namespace ovir::testing::patterns::normalize_l2
