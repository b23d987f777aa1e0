// resolve and infer, seen from outside: order, completeness, facts.
#include <algorithm>

#include "catch.hpp"
#include "small_model.hpp"

using namespace ovir;

namespace {

std::size_t position(const Model& model, std::string_view name) {
  const auto at = std::find_if(model.nodes.begin(), model.nodes.end(),
                               [&](const Node& n) { return n.layer && n.layer->name == name; });
  return static_cast<std::size_t>(at - model.nodes.begin());
}

const Diagnostic& only_error(const Diagnostics& diagnostics) {
  REQUIRE(diagnostics.errors() == 1);
  return *std::find_if(diagnostics.all().begin(), diagnostics.all().end(),
                       [](const Diagnostic& d) { return d.severity == Severity::error; });
}

/// x -> Relu -> Add(x) -> y
SmallModel sound(const PartialShape& shape) {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, shape);
  const auto relu = m.graph.add("relu", "Relu-1", {x});
  m.graph.result("y", m.graph.add("sum", "Add-1", {relu, x}));
  return m;
}

}  // namespace

TEST_CASE("a sound model is complete, its nodes in order of their dependencies") {
  const auto c = sound({2, 3}).check();
  CHECK(c.diagnostics.all().empty());
  REQUIRE(c.model);
  CHECK(c.model->complete);
  CHECK(c.model->nodes.size() == 4);
  CHECK(c.model->parameters.size() == 1);
  CHECK(c.model->results.size() == 1);
  for (std::size_t i = 0; i < c.model->nodes.size(); ++i)
    for (const auto input : c.model->nodes[i].inputs) CHECK(static_cast<std::size_t>(input.node) < i);
  CHECK(c.fact("sum").shape == PartialShape{2, 3});
  CHECK(c.fact("sum").type == ElementType::f32);
}

TEST_CASE("the order of the file does not matter") {
  SmallModel m;
  m.graph.result("y", 1, 1);  // of the layer that is written next
  const auto relu = m.graph.layer("relu", "Relu", "opset1", "", {2}, spec::output_port(1, ElementType::f32));
  const auto x = m.graph.parameter("x", ElementType::f32, {4});
  REQUIRE(relu == 1);
  REQUIRE(x == 2);
  const auto c = m.check();
  CHECK(c.diagnostics.all().empty());
  CHECK(position(*c.model, "x") < position(*c.model, "relu"));
  CHECK(c.fact("relu").shape == PartialShape{4});
}

TEST_CASE("a ReadValue comes before the Assign of its variable") {
  SmallModel m;
  const spec::AttributeTexts variable{{"variable_id", "v"}, {"variable_type", "f32"}, {"variable_shape", "2"}};
  const auto x = m.graph.parameter("x", ElementType::f32, {2});
  m.graph.sink("assign", "Assign-6", x, variable);
  m.graph.result("y", m.graph.add("read", "ReadValue-6", {x}, variable));
  const auto c = m.check();
  CHECK(c.diagnostics.errors() == 0);
  CHECK(position(*c.model, "read") < position(*c.model, "assign"));
}

TEST_CASE("a model with a fault is not complete, and the rest of it is judged") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {2, 3});
  const auto bad = m.graph.add("bad", "Sigmoit-1", {x});
  m.graph.result("y", m.graph.add("behind", "Relu-1", {bad}));
  const auto good = m.graph.add("good", "Relu-1", {x});
  m.graph.result("z", good);
  const auto c = m.check();
  REQUIRE(c.model);
  CHECK_FALSE(c.model->complete);
  CHECK(only_error(c.diagnostics).code == Code::E0602);
  CHECK(c.fact("good").shape == PartialShape{2, 3});
}

TEST_CASE("faults of inference: every one that does not follow from another") {
  SmallModel m;
  const auto a = m.graph.parameter("a", ElementType::f32, {2, 3}), b = m.graph.parameter("b", ElementType::f32, {2, 4});
  const auto first = m.graph.add("first", "Add-1", {a, b});
  m.graph.result("y", m.graph.add("behind", "Relu-1", {first}));
  m.graph.result("z", m.graph.add("second", "Multiply-1", {b, a}));
  const auto c = m.check();
  CHECK(c.diagnostics.errors() == 2);
  CHECK(c.diagnostics.dependents > 0);
  for (const auto& d : c.diagnostics.all()) {
    CHECK(d.code == Code::E0505);
    REQUIRE(d.layer);
    CHECK((d.layer->name == "first" || d.layer->name == "second"));
    CHECK(d.port);
  }
  const auto stopped = m.check({.shapes = {}, .compare_declared = true, .stop_at_fault = true});
  CHECK(stopped.diagnostics.errors() == 1);
}

TEST_CASE("shapes given in place of the Parameters'") {
  const auto c = sound({2, 3}).check({.shapes = {{0, PartialShape{5, Dim(), Dim(1, 4)}}}});
  CHECK(c.diagnostics.errors() == 0);
  CHECK(c.fact("sum").shape == PartialShape{5, Dim(), Dim(1, 4)});
}

TEST_CASE("small values travel: a shape that is computed is known") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {2, 3, 4}),
             y = m.graph.parameter("y", ElementType::f32, {24});
  const auto shape = m.graph.add("shape", "ShapeOf-3", {x}, {{"output_type", "i64"}});
  m.graph.result("z", m.graph.add("reshape", "Reshape-1", {y, shape}, {{"special_zero", "false"}}));
  CHECK(m.check().fact("reshape").shape == PartialShape{2, 3, 4});
  CHECK(m.check({.shapes = {{0, PartialShape{Dim(), 3, Dim()}}}}).fact("reshape").shape.rank() == 3);
}

TEST_CASE("dims that are the same unknown length stay equal") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, PartialShape{Dim(), 3});
  const auto relu = m.graph.add("relu", "Relu-1", {x});
  m.graph.result("y", m.graph.add("both", "Concat-1", {x, relu}, {{"axis", "1"}}));
  const auto shape = m.check().fact("both").shape;
  REQUIRE(shape.rank() == 2);
  CHECK(shape[1] == Dim(6));
  CHECK(shape[0].symbol == m.check().fact("x").shape[0].symbol);
}
