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

const Texts kKept{{"keep_dims", "true"}};
void norm_of_rows(Net& n) {
  const auto x = n.input({2, 5, 40});
  const auto norm = n.op("ReduceL2-4", {x, n.indices({-1})}, kKept);
  n.result(n.op("Divide-1", {x, n.op("Maximum-1", {norm, n.numbers({1e-12F}, {})})}));
}
void norm_of_channels(Net& n) {  // which at least is as much as some of them are
  const auto x = n.input({2, 70, 9, 13});
  const auto norm = n.op("ReduceL2-4", {x, n.indices({1})}, kKept);
  n.result(n.op("Divide-1", {x, n.op("Clamp-1", {norm}, {{"min", "4.8"}, {"max", "3.4028234663852886e+38"}})}));
}
void root_of_squares(Net& n) {
  const auto x = n.input({2, 5, 40});
  const auto sum = n.op("ReduceSum-1", {n.op("Multiply-1", {x, x}), n.indices({1, 2})}, kKept);
  n.result(n.op("Divide-1", {x, n.op("Sqrt-1", {sum})}));
}
void power_of_squares(Net& n) {
  const auto x = n.op("Tanh-1", {n.input({2, 5, 40})});
  const auto sum = n.op("ReduceSum-1", {n.op("Power-1", {x, n.numbers({2}, {})}), n.indices({2})}, kKept);
  const auto norm = n.op("Power-1", {sum, n.numbers({0.5F}, {})});
  n.result(n.op("Divide-1", {x, n.op("Maximum-1", {n.numbers({1e-12F}, {}), norm})}));
  n.result(x);
}
void grn(Net& n) { n.result(n.op("GRN-1", {n.input({2, 20, 5, 7})}, {{"bias", "0.01"}})); }

// clang-format off
constexpr Example kExamples[] = {
    {"normalize_l2", channels},
    {"normalize_l2", channels, kOnce, kOpen},
    {"normalize_l2", few},
    {"normalize_l2", rows},
    {"normalize_l2", grn, kOften, kOpen},
    {"normalize_l2", all},
    {"normalize_l2", norm_of_rows},
    {"normalize_l2", norm_of_rows, kOnce, kOpen},
    {"normalize_l2", norm_of_channels},
    {"normalize_l2", root_of_squares},
    {"normalize_l2", power_of_squares},
    {"normalize_l2", power_of_squares, kOften, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"normalize_l2", kExamples};

}  // namespace ovir::testing::patterns::normalize_l2
