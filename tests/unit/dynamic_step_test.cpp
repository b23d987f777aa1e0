// Steps whose shapes only the run tells: what is kept from run to run is used for the same operands only.
#include "catch.hpp"
#include "small_model.hpp"

using namespace ovir;

TEST_CASE("dynamic steps: values that decide shapes may change while the shapes of inputs stay") {
  SmallModel m;
  const auto open = PartialShape({Dim(), Dim()});
  const auto x = m.graph.parameter("x", ElementType::f32, open);
  const auto to = m.graph.parameter("to", ElementType::i64, {2});
  const auto doubled = m.graph.add("doubled", "Add-1", {x, x});
  m.graph.result("y", m.graph.add("reshaped", "Reshape-1", {doubled, to}, {{"special_zero", "false"}}));
  const auto c = m.check();
  auto session = compile(c.model, c.facts);
  const auto value = [](const Shape& shape) {
    std::vector<float> v(static_cast<std::size_t>(shape.count()));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i);
    return floats(shape, v);
  };
  const std::pair<Shape, std::vector<i64>> runs[] = {{{2, 6}, {3, 4}}, {{2, 6}, {6, 2}},  {{2, 6}, {3, 4}},
                                                     {{5, 4}, {4, 5}}, {{2, 6}, {12, 1}}, {{5, 4}, {2, 10}}};
  for (int round = 0; round < 3; ++round)
    for (const auto& [shape, target] : runs) {
      const auto y = session.run(std::vector<Tensor>{value(shape), Tensor::vector(target)}).at(0);
      CHECK(y.shape() == Shape{target[0], target[1]});
      CHECK(y.data<float>()[y.size() - 1] == 2.0F * static_cast<float>(y.size() - 1));
    }
  CHECK_THROWS_AS(session.run(std::vector<Tensor>{value({2, 6}), Tensor::vector(std::vector<i64>{5, 2})}), Failure);
  CHECK(session.run(std::vector<Tensor>{value({2, 6}), Tensor::vector(std::vector<i64>{3, 4})}).at(0).size() == 12);
}

TEST_CASE("dynamic steps: the data alone decide how many places are not zero") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, PartialShape({Dim(), Dim()}));
  m.graph.result("y", m.graph.add("places", "NonZero-3", {x}, {{"output_type", "i64"}}));
  const auto c = m.check();
  for (const auto tier : {Tier::fast, Tier::reference})
    for (const int runs : {1, 100}) {
      auto session = compile(c.model, c.facts, {.tier = tier, .expected_runs = runs});
      for (const std::int64_t count : {3, 4000, 0, 5000, 1}) {
        std::vector<float> values(5000);
        std::fill_n(values.begin(), count, 1.0F);
        const auto y = session.run(std::vector<Tensor>{floats({50, 100}, values)}).at(0);
        REQUIRE(y.shape() == Shape{2, count});
        if (count > 0) CHECK(y.data<std::int64_t>()[2 * count - 1] == (count - 1) % 100);
      }
    }
}
