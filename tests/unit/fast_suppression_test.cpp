// NonMaxSuppression of many boxes: kept ones are looked up by where they lie, and the reference compares with all.
#include <limits>
#include <random>

#include "catch.hpp"
#include "small_model.hpp"

namespace ovir {
namespace {

constexpr i64 kCount = 3000;

struct Boxes {
  std::mt19937 random{7};
  std::vector<float> values = std::vector<float>(4 * kCount);

  float between(float low, float high) { return std::uniform_real_distribution(low, high)(random); }
  /// [y1, x1, y2, x2] of box i, around a place.
  void put(i64 i, float y, float x, float height, float width) {
    const std::array<float, 4> box{y - height / 2, x - width / 2, y + height / 2, x + width / 2};
    std::copy(box.begin(), box.end(), values.begin() + 4 * i);
  }
};

Boxes spread(float length) {
  Boxes b;
  for (i64 i = 0; i < kCount; ++i)
    b.put(i, b.between(0, 100), b.between(0, length), b.between(0, 20), b.between(0, 20));
  return b;
}

/// Selected boxes by both tiers.
void check(const std::vector<float>& boxes, float overlap, bool center) {
  INFO("overlap " << overlap << ", center " << center);
  SmallModel m;
  auto& g = m.graph;
  const auto at = g.parameter("boxes", ElementType::f32, {1, kCount, 4});
  const auto scores = g.parameter("scores", ElementType::f32, {1, 1, kCount});
  const auto most = g.constant("most", Tensor::scalar(kCount));
  const auto limit = g.constant("overlap", floats({}, {overlap}));
  const auto none = g.constant("none", floats({}, {0.05F}));
  const auto best =
      g.layer("nms", "NonMaxSuppression", "opset9",
              spec::data_element({{"box_encoding", center ? "center" : "corner"}}), {at, scores, most, limit, none},
              spec::output_port(5, ElementType::dynamic) + spec::output_port(6, ElementType::dynamic) +
                  spec::output_port(7, ElementType::dynamic));
  g.result("selected", best, g.first_output(best));
  const auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  std::vector<float> some(kCount);
  for (i64 i = 0; i < kCount; ++i) some[i] = static_cast<float>(i * 7919 % 1009) / 1009;  // some of them alike
  const std::vector inputs{floats({1, kCount, 4}, boxes), floats({1, 1, kCount}, some)};
  Options reference;
  reference.tier = Tier::reference;
  const auto expected = compile(c.model, c.facts, reference).run(inputs);
  CHECK(same_bits(compile(c.model, c.facts, {}).run(inputs), expected));
}

}  // namespace

TEST_CASE("of many boxes the fast tier selects those that the reference tier does") {
  for (const float length : {100.0F, 3000.0F})
    for (const float overlap : {0.0F, 0.3F, 0.7F, 1.0F})
      for (const bool center : {false, true}) check(spread(length).values, overlap, center);
}

TEST_CASE("suppression by cells leaves out no overlap") {
  SECTION("of boxes that cover all others") {
    auto b = spread(3000);
    for (i64 i = 0; i < kCount; i += 50) b.put(i, 50, 1500, 100, b.between(1000, 4000));
    for (const float overlap : {0.0F, 0.01F, 0.5F}) check(b.values, overlap, false);
  }
  SECTION("of one coordinate far away") {
    auto b = spread(3000);
    b.put(17, 50, 1e6F, 10, 10);
    check(b.values, 0.3F, false);
  }
  SECTION("of boxes without an area, and of those turned around") {
    auto b = spread(3000);
    for (i64 i = 0; i < kCount; i += 3) b.put(i, b.between(0, 100), b.between(0, 3000), 0, b.between(-20, 20));
    for (i64 i = 1; i < kCount; i += 3) b.put(i, b.between(0, 100), b.between(0, 3000), -9, b.between(-20, 20));
    for (const bool center : {false, true}) check(b.values, 0.2F, center);
  }
  SECTION("of boxes that are alike") {
    auto b = spread(3000);
    for (i64 i = 0; i < kCount; ++i) b.put(i, 5, static_cast<float>(i % 700) * 4, 4, 4);
    for (const float overlap : {0.0F, 0.5F, 1.0F}) check(b.values, overlap, false);
  }
  SECTION("of numbers that are not finite, or too large for areas") {
    for (const float odd : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::max(), 1e30F}) {
      auto b = spread(3000);
      for (i64 i = 0; i < kCount; i += 70) b.values[4 * i + 3] = odd;
      check(b.values, 0.3F, false);
      for (i64 i = 0; i < kCount; i += 40) b.values[4 * i] = -odd;
      check(b.values, 0.3F, true);
    }
  }
  SECTION("where all of them overlap") { check(spread(3000).values, -0.5F, false); }
}

}  // namespace ovir
