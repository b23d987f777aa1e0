#include "pattern_examples.hpp"

namespace ovir::testing::patterns::random_uniform {
namespace {

int limit(Net& n, const char* type, float value) {
  return n.op("Convert-1", {n.numbers({value}, {})}, {{"destination_type", type}});
}
/// Added to what is given, so that a run has inputs.
void between(Net& n, const char* type, float low, float high) {
  const auto x = n.op("Convert-1", {n.input({3, 1, 1})}, {{"destination_type", type}});
  const auto random = n.op("RandomUniform-8", {n.indices({3, 37, 41}), limit(n, type, low), limit(n, type, high)},
                           {{"output_type", type}, {"global_seed", "150"}, {"op_seed", "10"}});
  n.result(n.op("Convert-1", {n.op("Add-1", {x, random})}, {{"destination_type", std::string(name(n.type()))}}));
}
void floats(Net& n) { between(n, "f32", -2.5F, 3.25F); }
void words(Net& n) { between(n, "i32", -5, 1000); }
void longs(Net& n) { between(n, "i64", -7, 12); }
void wide_longs(Net& n) { between(n, "i64", -7, 1e12F); }

// clang-format off
constexpr Example kExamples[] = {
    {"random_uniform", floats, kOften, kFixed, kF32Only},
    {"random_uniform", floats, kOnce, kFixed, kF32Only},
    {"random_uniform", words, kOften, kFixed, kF32Only},
    {"random_uniform", longs, kOften, kFixed, kF32Only},
    {"random_uniform", wide_longs, kOften, kFixed, kF32Only},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"random_uniform", kExamples};

}  // namespace ovir::testing::patterns::random_uniform
