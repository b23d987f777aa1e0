#include "tools/step_shapes.hpp"

#include "catch.hpp"
#include "small_model.hpp"

using namespace ovir;

namespace {

/// Attention over the tokens so far, and over a source that stays; each with a mask.
struct Decoder {
  SmallModel m;
  std::shared_ptr<const Model> model;

  Decoder() {
    auto& g = m.graph;
    const spec::AttributeTexts keys{{"variable_id", "keys"}, {"variable_type", "f32"}, {"variable_shape", "1,?,2"}};
    const spec::AttributeTexts transposed{{"transpose_b", "true"}};
    const auto tokens = g.parameter("tokens", ElementType::f32, PartialShape({1, Dim(), 2}));
    const auto source = g.parameter("source", ElementType::f32, PartialShape({1, Dim(), 2}));
    const auto mask = g.parameter("mask", ElementType::f32, PartialShape({1, 1, Dim()}));
    const auto source_mask = g.parameter("source_mask", ElementType::f32, PartialShape({1, 1, Dim()}));
    const auto all = g.add("all", "Concat-1", {g.add("past", "ReadValue-6", {}, keys), tokens}, {{"axis", "1"}});
    g.sink("keep", "Assign-6", all, keys);
    const auto attention = [&](const std::string& name, int over, int with) {
      const auto scores = g.add(name + "/scores", "MatMul-1", {tokens, over}, transposed);
      g.result(name,
               g.add(name + "/values", "MatMul-1", {g.add(name + "/masked", "Multiply-1", {scores, with}), over}));
    };
    attention("self", all, mask);
    attention("cross", source, source_mask);
    const auto checked = m.check();
    model = checked.model;
    REQUIRE(checked.diagnostics.errors() == 0);
  }
};

std::vector<Shape> shapes(i64 tokens, i64 source) {
  return {{1, tokens, 2}, {1, source, 2}, {1, 1, tokens}, {1, 1, source}};
}
const std::map<int, Dim> kMasks{{2, Dim()}, {3, Dim()}};

}  // namespace

TEST_CASE("a mask grows with the states that it covers") {
  const Decoder d;
  for (const i64 tokens : {1, 2, 5})
    for (const i64 source : {1, 3}) {
      tools::StepShapes steps(*d.model);
      for (i64 step = 0; step < 4; ++step) {
        auto expected = shapes(tokens, source);
        expected[2] = {1, 1, tokens * (step + 1)};
        CHECK(steps.next(shapes(tokens, source), kMasks) == expected);
      }
    }
}

TEST_CASE("the first step may begin with states") {
  const Decoder d;
  tools::StepShapes steps(*d.model);
  steps.begin_with({{"keys", PartialShape({1, 7, 2})}});
  CHECK(steps.next(shapes(2, 3), kMasks)[2] == Shape{1, 1, 9});
  CHECK(steps.next(shapes(1, 3), kMasks)[2] == Shape{1, 1, 10});
}

TEST_CASE("a mask does not become longer than its input allows") {
  const Decoder d;
  tools::StepShapes steps(*d.model);
  const std::map<int, Dim> bounded{{2, Dim(1, 4)}};
  CHECK(steps.next(shapes(2, 3), bounded)[2] == Shape{1, 1, 2});
  CHECK(steps.next(shapes(2, 3), bounded)[2] == Shape{1, 1, 4});
  CHECK(steps.next(shapes(2, 3), bounded)[2] == Shape{1, 1, 1});  // which is broadcast
}
