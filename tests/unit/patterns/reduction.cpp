#include "pattern_examples.hpp"

namespace ovir::testing::patterns::reduction {
namespace {

void mean(Net& n) {
  n.result(n.op("ReduceMean-1", {n.input({2, 32, 5, 7}), n.indices({2, 3})}, {{"keep_dims", "true"}}));
}
void sum(Net& n) { n.result(n.op("ReduceSum-1", {n.input({3, 4, 35}), n.indices({-1})}, {{"keep_dims", "false"}})); }
void maximum(Net& n) { n.result(n.op("ReduceMax-1", {n.input({3, 9, 5}), n.indices({1})}, {{"keep_dims", "true"}})); }
void minimum(Net& n) {
  n.result(n.op("ReduceMin-1", {n.input({3, 9, 5}), n.indices({0, 1})}, {{"keep_dims", "false"}}));
}
void norm(Net& n) {
  n.result(n.op("ReduceL2-4", {n.input({2, 5, 7, 33}), n.indices({1, 2})}, {{"keep_dims", "true"}}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"reduction", mean},
    {"reduction", sum, kOnce, kOpen},
    {"reduction", maximum},
    {"reduction", minimum},
    {"reduction", norm},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"reduction", kExamples};

}  // namespace ovir::testing::patterns::reduction
