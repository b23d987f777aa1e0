#include "pattern_examples.hpp"

namespace ovir::testing::patterns::non_zero {
namespace {

int rounded(Net& n, const Shape& shape, std::string_view type) {
  const auto scaled = n.op("Multiply-1", {n.input(shape), n.numbers({2}, {1})});
  return n.op("Convert-1", {scaled}, {{"destination_type", std::string(type)}});
}
void places(Net& n, int x, std::string_view type) {
  n.result(n.op("NonZero-3", {x}, {{"output_type", std::string(type)}}));
}

void floats(Net& n) { places(n, relu(n, n.input({3, 50, 60})), "i64"); }
void integers(Net& n) { places(n, rounded(n, {70, 9}, "i64"), "i32"); }
void bytes(Net& n) { places(n, rounded(n, {900}, "boolean"), "i64"); }

// clang-format off
constexpr Example kExamples[] = {
    {"non_zero", floats},
    {"non_zero", floats, kOnce, kOpen},
    {"non_zero", integers, kOften, kFixed, kF32Only},
    {"non_zero", bytes, kOften, kFixed, kF32Only},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"non_zero", kExamples};

}  // namespace ovir::testing::patterns::non_zero
