#include <limits>

#include "pattern_examples.hpp"

namespace ovir::testing::patterns::bucketize {
namespace {

void bucketize(Net& n, int x, int boundaries, std::string_view right, std::string_view type) {
  n.result(n.op("Bucketize-3", {x, boundaries},
                {{"with_right_bound", std::string(right)}, {"output_type", std::string(type)}}));
}

void right(Net& n) {
  bucketize(n, n.input({3, 50}), n.numbers({-1, -0.25, -0.125, 0, 0.125, 0.5, 1}, {7}), "true", "i64");
}
void left(Net& n) { bucketize(n, n.input({150}), n.numbers({-0.25, 0, 0.125, 0.125, 0.5}, {5}), "false", "i32"); }
void one(Net& n) { bucketize(n, n.input({15}), n.numbers({0}, {1}), "true", "i32"); }
/// Where a search among these ends depends on its steps.
void unsorted(Net& n) { bucketize(n, n.input({150}), n.numbers({0.5, -0.25, 0.125, 0, -1, 0.25}, {6}), "true", "i64"); }
void unsorted_left(Net& n) { bucketize(n, n.input({150}), n.numbers({0.5, -0.25, 0.125, 0}, {4}), "false", "i64"); }
void no_number(Net& n) {
  bucketize(n, n.input({150}), n.numbers({-0.25, 0, std::numeric_limits<double>::quiet_NaN()}, {3}), "false", "i64");
}
void integers(Net& n) {
  const auto scaled = n.op("Multiply-1", {n.input({70}), n.numbers({20}, {1})});
  bucketize(n, n.op("Convert-1", {scaled}, {{"destination_type", "i64"}}), n.indices({-9, -3, 0, 2, 9}), "true", "i64");
}

// clang-format off
constexpr Example kExamples[] = {
    {"bucketize", right},
    {"bucketize", right, kOnce, kOpen},
    {"bucketize", left},
    {"bucketize", one},
    {"bucketize", unsorted},
    {"bucketize", unsorted_left},
    {"bucketize", no_number},
    {"bucketize", integers, kOften, kFixed, kF32Only},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"bucketize", kExamples};

}  // namespace ovir::testing::patterns::bucketize
