// Sessions: runs that somebody watches, or that have not enough memory, leave states and results as any other.
#include <map>

#include "catch.hpp"
#include "harness/ways.hpp"
#include "small_model.hpp"

using namespace ovir;
using testing::kWays;

namespace {

/// Keeps a copy of output 0 of every layer.
struct Seen final : Observer {
  std::map<std::string, Tensor> values;

  Verdict after(Event& event) override {
    if (event.outputs[0]) values.emplace(event.node.layer->name, event.outputs[0].copied());
    return Verdict::go_on;
  }
};

}  // namespace

TEST_CASE("a run that lacks the memory for its results leaves the states as they were") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {1, 2});
  const spec::AttributeTexts variable{{"variable_id", "v"}, {"variable_type", "f32"}, {"variable_shape", "?,2"}};
  const auto held = m.graph.add("held", "ReadValue-6", {m.graph.constant("none", floats({0, 2}, {}))}, variable);
  const auto all = m.graph.add("all", "Concat-1", {held, x}, {{"axis", "0"}});
  m.graph.sink("keep", "Assign-6", all, variable);
  m.graph.result("y", all);
  const auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  const auto plan = ovir::plan(c.model, c.facts, {});
  bool lacked = false;
  for (i64 memory = 16; memory < 4096; memory += 8) {
    RuntimeOptions options;
    options.memory = memory;
    Session session(std::make_shared<Runtime>(options), plan);
    for (i64 rows = 0; rows < 8; ++rows) {
      try {
        session.run(std::vector{floats({1, 2}, {1, 2})});
        continue;
      } catch (const Failure& failure) {
        CHECK(failure.diagnostic.code == Code::E0003);
      }
      lacked = true;
      const auto state = session.state("v");
      CHECK((state ? state.dim(0) : 0) == rows);
      break;
    }
  }
  CHECK(lacked);
}

TEST_CASE("what moves f16 constants is seen in the type in which it is kept") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {3, 2});
  const auto table = m.graph.constant("table", convert(floats({2, 3}, {1, 2, 3, 4, 5, 6}), ElementType::f16));
  const auto axes = m.graph.constant("axes", Tensor::vector({1, 0}));
  const auto turned = m.graph.add("turned", "Transpose-1", {table, axes});
  const auto wide = m.graph.add("wide", "Convert-1", {turned}, {{"destination_type", "f32"}});
  m.graph.result("y", m.graph.add("sum", "Add-1", {x, wide}));
  const auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  for (const auto& way : kWays) {
    auto session = testing::open(c.model, c.facts, way);
    Seen seen;
    session.run(std::vector{floats({3, 2}, {0, 0, 0, 0, 0, 0})}, &seen);
    for (const auto* layer : {"turned", "wide", "sum"}) {
      INFO(way.name << ", " << layer);
      REQUIRE(seen.values.count(layer) == 1);
      CHECK(to_f64(seen.values.find(layer)->second) == std::vector<double>{1, 4, 2, 5, 3, 6});
    }
  }
}
