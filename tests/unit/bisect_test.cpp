// What bisect calls wrong: a kernel's own error, not the rounding of a kernel that is right.
#include <cmath>
#include <random>

#include "catch.hpp"
#include "pattern_examples.hpp"
#include "tools/compare.hpp"

using namespace ovir;
using testing::Net;

namespace {

std::vector<float> random_numbers(i64 count, float scale) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (auto& v : values) v = normal(random);
  return values;
}

/// FakeQuantize from `low` to `high`.
int quantized(Net& n, int x, float low, float high, const char* levels) {
  const auto a = n.numbers({low}, {}), b = n.numbers({high}, {});
  return n.op("FakeQuantize-1", {x, a, b, a, b}, {{"levels", levels}});
}

/// Tells of the first layer that is wrong, if there is one.
std::string first_wrong(const Net& net, Precision precision, const std::vector<Tensor>& inputs) {
  const auto c = net.model.check();
  REQUIRE(c.diagnostics.errors() == 0);
  auto reference_session = compile(c.model, c.facts, {.tier = Tier::reference});
  tools::Reference reference;
  tools::keep_values(reference_session, inputs, reference);
  auto session = compile(c.model, c.facts, {.precision = precision});
  const auto found = tools::bisect(session, inputs, reference, {}).found;
  return found ? found->own.place.at().layer->name : "";
}

}  // namespace

TEST_CASE("bisect: an activation before levels is approximated, so a value near their border may fall to either side") {
  const std::string_view activation = GENERATE("Gelu-7", "Swish-4");
  Net n(ElementType::f32, false);
  const auto x = quantized(n, n.input({1, 512, 32}), -4, 4, "256");
  const auto weights = quantized(n, n.constant(floats({256, 32}, random_numbers(256 * 32, 0.3F))), -1, 1, "255");
  auto y = n.op("MatMul-1", {x, weights}, {{"transpose_b", "true"}});
  y = n.op(activation, {y});
  // A range of its own, as a converter measures it: the border of two levels lies anywhere.
  y = quantized(n, y, -0.169970155F, 5.0121F, "256");
  const auto others = quantized(n, n.constant(floats({8, 256}, random_numbers(8 * 256, 0.3F))), -1, 1, "255");
  n.result(n.op("MatMul-1", {y, others}, {{"transpose_b", "true"}}));
  CHECK(first_wrong(n, Precision::int8, {floats({1, 512, 32}, random_numbers(512 * 32, 1))}).empty());
}

TEST_CASE("bisect: sums of levels where 0 is none of them") {
  Net n(ElementType::f32, false);
  // Level 85 is as near to 0 as rounding lets it be.
  const auto x = quantized(n, n.input({1, 64, 6, 6}), -0.1F, 0.2F, "256");
  const auto weights = quantized(n, n.constant(floats({32, 64, 1, 1}, random_numbers(32 * 64, 0.2F))), -1, 1, "255");
  n.result(n.op("Convolution-1", {x, weights},
                {{"strides", "1,1"}, {"dilations", "1,1"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}}));
  CHECK(first_wrong(n, Precision::int8, {floats({1, 64, 6, 6}, random_numbers(64 * 36, 1e-5F))}).empty());
}

TEST_CASE("bisect: weights of f16 that kernels read as they are") {
  Net n(ElementType::f32, false);
  const auto stored = n.constant(convert(floats({512, 256}, random_numbers(512 * 256, 0.1F)), ElementType::f16));
  const auto weights = n.op("Convert-1", {stored}, {{"destination_type", "f32"}});
  n.result(n.op("MatMul-1", {n.input({3, 256}), weights}, {{"transpose_b", "true"}}));
  CHECK(first_wrong(n, Precision::f32, {floats({3, 256}, random_numbers(3 * 256, 1))}).empty());
}
