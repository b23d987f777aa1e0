// resolve and infer, seen from outside: order, completeness, facts.
#include <algorithm>
#include <limits>

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

i64 count_of(const Diagnostics& diagnostics, Code code) {
  return std::count_if(diagnostics.all().begin(), diagnostics.all().end(),
                       [&](const Diagnostic& d) { return d.code == code; });
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

TEST_CASE("a word that only another version takes names that version") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {2, 1});
  const auto shape = m.graph.constant("shape", Tensor::vector({1, 3}));
  m.graph.result("y", m.graph.add("spread", "Broadcast-1", {x, shape}, {{"mode", "bidirectional"}}));
  const auto c = m.check();
  const auto& d = only_error(c.diagnostics);
  CHECK(d.code == Code::E0403);
  CHECK(d.message ==
        "attribute \"mode\" of Broadcast must be \"numpy\", \"explicit\", \"none\" or \"pdpd\", but is "
        "\"bidirectional\"; Broadcast of opset3 takes it");
  REQUIRE_FALSE(d.remedies.empty());
  CHECK(d.remedies.front().front().what == Change::What::layer_attribute);
  CHECK(d.remedies.front().front().value == "opset3");
}

TEST_CASE("a target of Reshape is printed as it stands") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {2, 3});
  const auto shape = m.graph.constant("shape", Tensor::vector({std::numeric_limits<i64>::max()}));
  m.graph.result("y", m.graph.add("reshape", "Reshape-1", {x, shape}, {{"special_zero", "false"}}));
  const auto c = m.check();
  CHECK(only_error(c.diagnostics).message ==
        "Reshape cannot turn [2,3] into [9223372036854775807]: no length of dim 0 keeps the number of elements");
}

TEST_CASE("a target of Reshape that is known to a bound only is printed as it stands, too") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {2, 3});
  const auto longest = std::numeric_limits<i64>::max() - 1;
  const auto shape = m.graph.constant("shape", Tensor::vector({longest, -1}));
  m.graph.result("y", m.graph.add("reshape", "Reshape-1", {x, shape}, {{"special_zero", "true"}}));
  const auto c = m.check();
  const auto& error = only_error(c.diagnostics);
  CHECK(error.message ==
        "Reshape cannot turn [2,3] into [9223372036854775806,-1]: 6 elements in, 4611686018427387904 or more out");
  CHECK(error.remedies.front().front().value == "0,-1");
}

TEST_CASE("an attribute of another version is a leftover only where it says nothing") {
  const auto diagnostic_of = [](const std::string& dilations) {
    SmallModel m;
    const auto x = m.graph.parameter("x", ElementType::f32, {1, 2, 7});
    m.graph.result("y", m.graph.add("pool", "AvgPool-1", {x},
                                    {{"kernel", "3"},
                                     {"strides", "2"},
                                     {"pads_begin", "0"},
                                     {"pads_end", "0"},
                                     {"exclude-pad", "true"},
                                     {"dilations", dilations}}));
    const auto c = m.check();
    REQUIRE(c.diagnostics.all().size() == 1);
    return c.diagnostics.all().front();
  };
  CHECK(diagnostic_of("1").code == Code::N0901);
  const auto told = diagnostic_of("2");
  CHECK(told.code == Code::W0902);
  CHECK(told.message == "unknown attribute \"dilations\" of AvgPool; AvgPool of opset16 has it");
}

TEST_CASE("what Model Optimizer kept of Caffe's DetectionOutput is one note") {
  SmallModel m;
  const auto boxes = m.graph.parameter("boxes", ElementType::f32, {1, 8});
  const auto scores = m.graph.parameter("scores", ElementType::f32, {1, 4});
  const auto priors = m.graph.parameter("priors", ElementType::f32, {1, 2, 10});
  m.graph.result("y", m.graph.add("detections", "DetectionOutput-1", {boxes, scores, priors},
                                  {{"num_classes", "2"},
                                   {"keep_top_k", "2"},
                                   {"nms_threshold", "0.5"},
                                   {"height", "0"},
                                   {"height_scale", "0"},
                                   {"interp_mode", ""},
                                   {"pad_mode", ""},
                                   {"pad_value", ""},
                                   {"prob", "0"},
                                   {"resize_mode", ""},
                                   {"save_file", ""},
                                   {"visualize", "0"},
                                   {"width", "0"},
                                   {"width_scale", "0"},
                                   {"eta", "1.0"},
                                   {"num_test_image", "0"}}));
  const auto c = m.check();
  REQUIRE(c.diagnostics.all().size() == 1);
  CHECK(c.diagnostics.all().front().code == Code::N0901);
}

TEST_CASE("a version that lacks an attribute is no remedy where the attribute says something") {
  const auto versions = [](SmallModel& m) {
    const auto c = m.check();
    std::vector<std::string> list;
    for (const auto& remedy : only_error(c.diagnostics).remedies)
      if (remedy.front().name == "version") list.push_back(remedy.front().value);
    return list;
  };
  const auto scattered = [&](const std::string& reduction) {
    SmallModel m;
    const auto x = m.graph.parameter("x", ElementType::f32, {6});
    const auto updates = m.graph.parameter("updates", ElementType::f16, {2});
    m.graph.result("y", m.graph.add("scatter", "ScatterNDUpdate-15",
                                    {x, m.graph.constant("indices", Tensor::vector({1, 2})), updates},
                                    {{"reduction", reduction}}));
    return versions(m);
  };
  CHECK(scattered("mean").empty());
  CHECK(scattered("sum").empty());
  CHECK(scattered("none") == std::vector<std::string>{"opset4"});

  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {1, 2, 7});
  m.graph.result("y", m.graph.add("pool", "AvgPool-16", {x},
                                  {{"kernel", "3"},
                                   {"strides", "2"},
                                   {"pads_begin", "0"},
                                   {"pads_end", "0"},
                                   {"exclude-pad", "true"},
                                   {"dilations", "0"}}));
  CHECK(versions(m).empty());
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

TEST_CASE("a row of a large table is not known before the model runs") {  // it would be read from all of the table
  const auto rows = GENERATE(i64{4}, i64{5000});
  SmallModel m;
  const auto table = m.graph.constant("table", Tensor(ElementType::f32, {rows, 2}));
  const auto index = m.graph.constant("index", Tensor::vector({3})), axis = m.graph.constant("axis", Tensor::scalar(0));
  m.graph.result("y", m.graph.add("row", "Gather-8", {table, index, axis}));
  const auto row = m.check().fact("row");
  CHECK(row.shape == PartialShape{1, 2});
  CHECK(bool(row.value) == (rows == 4));
  CHECK(!row.bounds);
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

TEST_CASE("every unknown length has a symbol, which what has the same length shares") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, PartialShape{Dim(), 3}),
             y = m.graph.parameter("y", ElementType::f32, PartialShape{Dim(), 3});
  const auto sum = m.graph.add("sum", "Add-1", {x, y});  // as long as the longer one
  m.graph.result("z", m.graph.add("relu", "Relu-1", {sum}));
  const auto c = m.check();
  const auto symbol = [&](const char* name) { return c.fact(name).shape[0].symbol; };
  CHECK(symbol("sum") != 0);
  CHECK(symbol("sum") != symbol("x"));
  CHECK(symbol("sum") != symbol("y"));
  CHECK(symbol("sum") == symbol("relu"));
}

TEST_CASE("a fault in what no Result needs is a warning") {
  auto m = sound({2, 3});
  m.graph.add("left", "Reshape-1", {0});  // lacks its shape and an attribute
  const auto left_out = m.check();
  CHECK(left_out.diagnostics.errors() == 0);
  CHECK(count_of(left_out.diagnostics, Code::W0909) == 1);
  CHECK(left_out.model->nodes.size() == 4);
  CHECK(left_out.model->graph->left_out.size() == 1);

  auto inferred = sound({2, 3});
  inferred.graph.add("left", "Softmax-1", {0}, {{"axis", "7"}});
  const auto not_needed = inferred.check();
  CHECK(not_needed.diagnostics.errors() == 0);
  CHECK(count_of(not_needed.diagnostics, Code::W0909) == 1);
  CHECK(not_needed.facts.sound);
}

TEST_CASE("it is an error beside another fault, and where the model has no Result") {
  auto both = sound({2, 3});
  both.graph.add("left", "Reshape-1", {0});
  both.graph.result("z", both.graph.add("right", "Softmax-1", {0}, {{"axis", "seven"}}));
  CHECK(both.check().diagnostics.errors() == 2);
  SmallModel none;
  none.graph.add("left", "Reshape-1", {none.graph.parameter("x", ElementType::f32, {2})});
  CHECK(none.check().diagnostics.errors() == 1);
}

TEST_CASE("an integer with a fraction of zeros, and a comma at the end of a list") {
  const auto checked = [](std::string axis, std::string strides) {
    SmallModel m;
    const auto x = m.graph.parameter("x", ElementType::f32, {1, 2, 4, 4});
    const auto soft = m.graph.add("soft", "Softmax-8", {x}, {{"axis", std::move(axis)}});
    m.graph.result("y", m.graph.add("pool", "AvgPool-1", {soft},
                                    {{"kernel", "2,2"},
                                     {"strides", std::move(strides)},
                                     {"pads_begin", "0,0"},
                                     {"pads_end", "0,0"},
                                     {"exclude-pad", "false"}}));
    return m.check();
  };
  const auto c = checked("1.0", "2.00, 1,");
  CHECK(c.diagnostics.errors() == 0);
  CHECK(count_of(c.diagnostics, Code::W0908) == 2);
  CHECK(c.fact("pool").shape == PartialShape{1, 2, 2, 3});
  CHECK(checked("1", "2,1").diagnostics.all().empty());
  CHECK(checked("1.5", "2,1").diagnostics.errors() == 1);
  CHECK(checked("1", "2,,1").diagnostics.errors() == 1);
}
