#include "passes/planned_bytes.hpp"

#include "catch.hpp"
#include "small_model.hpp"

using namespace ovir;

namespace {

/// x -> wide (x tiled `times` over) -> y, and the shape of it -> z.
struct Tiled {
  SmallModel m;
  int x = 0, wide = 0;
  explicit Tiled(i64 times) {
    x = m.graph.parameter("x", ElementType::f32, {1});
    wide = m.graph.add("wide", "Tile-1", {x, m.graph.constant("times", Tensor::vector({times}))});
  }
};

}  // namespace

TEST_CASE("planned bytes: the largest layer, before anything is computed") {
  Tiled t(i64{1} << 40);
  t.m.graph.result("y", t.m.graph.add("relu", "Relu-1", {t.wide}));
  const auto c = t.m.check();
  const auto planned = passes::planned_bytes(*c.model, c.facts);
  CHECK(planned.bytes == i64{1} << 42);
  REQUIRE(planned.node);
  CHECK(planned.node->layer->name == "wide");
}

TEST_CASE("planned bytes: what only lends its shape costs nothing") {
  Tiled t(i64{1} << 40);
  t.m.graph.result("y", t.m.graph.add("shape", "ShapeOf-3", {t.wide}, {{"output_type", "i64"}}));
  const auto c = t.m.check();
  CHECK(passes::planned_bytes(*c.model, c.facts).bytes == 0);
}
