#include <algorithm>
#include <string>

#include "catch.hpp"
#include "small_model.hpp"
#include "tools/extract.hpp"

using namespace ovir;

namespace {

/// x -> relu -> split, of which sum -> y and negative -> z take the first half.
struct Example : SmallModel {
  Example() {
    const PartialShape half{2};
    const auto x = graph.parameter("x", ElementType::f32, {4});
    const auto relu = graph.add("relu", "ReLU-1", {x});
    const auto axis = graph.constant("axis", Tensor::scalar(0));
    const auto split = graph.layer(
        "split", "Split", "opset1", R"(<data num_splits="2"/>)", {relu, axis},
        ovir::spec::output_port(2, ElementType::f32, &half) + ovir::spec::output_port(3, ElementType::f32, &half));
    const auto weights = graph.constant("weights", floats({2}, {0.25F, 8}));
    const auto sum = graph.add("sum", "Add-1", {split, weights}, {{"auto_broadcast", "numpy"}});
    const auto negative = graph.add("negative", "Negative-1", {split});
    graph.result("y", sum);
    graph.result("z", negative);
  }
};

int node_of(const Model& model, const std::string& name) {
  const auto at =
      std::find_if(model.nodes.begin(), model.nodes.end(), [&](const Node& n) { return n.layer->name == name; });
  REQUIRE(at != model.nodes.end());
  return static_cast<int>(at - model.nodes.begin());
}

Checked check_sub(const tools::SubModel& sub) {
  Checked c;
  c.model = tools::load(sub, "sub.xml", c.diagnostics);
  REQUIRE(c.model != nullptr);
  c.facts = ovir::infer(*c.model, {}, c.diagnostics);
  INFO(sub.xml);
  REQUIRE(c.diagnostics.errors() == 0);
  return c;
}

std::vector<Tensor> run(const Checked& c, const std::vector<Tensor>& inputs) {
  return ovir::compile(c.model, c.facts).run(inputs);
}

std::string bytes_of(const tools::SubModel& sub) {
  std::string bytes;
  for (const auto& piece : sub.bin) bytes += piece.text();
  return bytes;
}

}  // namespace

TEST_CASE("a cut that leaves everything only packs the weights") {
  const auto c = Example().check();
  const auto sub = tools::extract(*c.model, c.facts, {c.model.get(), {}, {}, tools::results_of(*c.model)});
  CHECK(sub.added.empty());
  CHECK(sub.parameters.size() == 1);
  CHECK(sub.xml.size() <= c.model->graph->source->text.size());  // the offsets are lower
  CHECK(bytes_of(sub).size() < c.model->graph->weights->size());
  CHECK(same_bits(run(check_sub(sub), {floats({4}, {1, -2, 3, 4})}), run(c, {floats({4}, {1, -2, 3, 4})})));
}

TEST_CASE("a value that is cut becomes a Parameter, one that is frozen a Constant") {
  const auto c = Example().check();
  const auto split = node_of(*c.model, "split"), sum = node_of(*c.model, "sum");
  const auto a = floats({2}, {3, -5});
  const auto cut = tools::extract(*c.model, c.facts, {c.model.get(), {{split, 0}}, {}, {{sum, 0}}});
  const auto sub = check_sub(cut);
  CHECK(cut.added == std::vector<std::string>{"split.0"});
  CHECK(sub.model->nodes.size() == 4);
  CHECK(sub.model->parameter_name(0) == "split.0");
  CHECK(sub.fact("split.0").shape == PartialShape{2});
  CHECK(run(sub, {a})[0].values<float>()[1] == 3);

  const auto frozen = tools::extract(*c.model, c.facts, {c.model.get(), {}, {{{split, 0}, a}}, {{sum, 0}}});
  const auto fixed = check_sub(frozen);
  CHECK(fixed.model->parameters.empty());
  CHECK(run(fixed, {})[0].values<float>()[1] == 3);
}

TEST_CASE("a layer that stays for its other output keeps its name") {
  const auto c = Example().check();
  const auto split = node_of(*c.model, "split"), sum = node_of(*c.model, "sum");
  const auto cut = tools::extract(*c.model, c.facts, {c.model.get(), {{split, 0}}, {}, {{sum, 0}, {split, 1}}});
  CHECK(cut.added == std::vector<std::string>{"split.0", "split/sink_port_1"});
  const auto results = run(check_sub(cut), {floats({2}, {1, 2}), floats({4}, {5, 6, 7, 8})});
  CHECK(results[0].values<float>()[0] == 1.25F);
  CHECK(results[1].values<float>()[0] == 7);
}

TEST_CASE("what no output needs is reported") {
  const auto c = Example().check();
  const auto negative = node_of(*c.model, "negative"), relu = node_of(*c.model, "relu");
  const auto cut = tools::extract(*c.model, c.facts, {c.model.get(), {{negative, 0}, {relu, 0}}, {}, {{relu, 0}}});
  REQUIRE(cut.unreached.size() == 1);
  CHECK(cut.unreached[0].node == negative);
  CHECK(cut.parameters.empty());
  const auto x = floats({4}, {-1, 2, 3, 4});
  CHECK(same_bits(run(check_sub(cut), {x}), {x}));
}

TEST_CASE("the cut around layers takes the constants along") {
  const auto c = Example().check();
  const auto cut = tools::around(tools::select(*c.model, "split,sum"), *c.model, c.facts);
  REQUIRE(cut.inputs.size() == 1);
  CHECK(cut.inputs[0].node == node_of(*c.model, "relu"));
  REQUIRE(cut.outputs.size() == 3);  // negative takes from split, y from sum, nobody the second half
  CHECK(check_sub(tools::extract(*c.model, c.facts, cut)).model->nodes.size() == 8);
}

TEST_CASE("the cut around layers freezes what is known") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {2, 3});
  const auto shape = m.graph.add("shape", "ShapeOf-3", {x}, {{"output_type", "i64"}});
  const auto y = m.graph.parameter("y", ElementType::f32, {6});
  const auto reshape = m.graph.add("reshape", "Reshape-1", {y, shape}, {{"special_zero", "false"}});
  m.graph.result("z", reshape);
  const auto c = m.check();
  const auto cut = tools::around(tools::select(*c.model, "reshape"), *c.model, c.facts);
  CHECK(cut.inputs.size() == 1);
  CHECK(cut.frozen.size() == 1);
  CHECK(check_sub(tools::extract(*c.model, c.facts, cut)).fact("reshape").shape == PartialShape{2, 3});
}

TEST_CASE("frozen values of every width, and strings, come back as they were") {
  for (const auto type : {ElementType::u1, ElementType::i4, ElementType::u8, ElementType::f16, ElementType::f64,
                          ElementType::boolean, ElementType::string}) {
    SmallModel m;
    const auto x = m.graph.parameter("x", type, {3});
    m.graph.result("y", x);
    const auto c = m.check();
    const auto value =
        type == ElementType::string ? Tensor::strings({3}, {"a", "", "bcd"}) : convert(floats({3}, {1, 0, 1}), type);
    const auto sub = check_sub(tools::extract(*c.model, c.facts, {c.model.get(), {}, {{{0, 0}, value}}, {{0, 0}}}));
    const auto result = run(sub, {})[0];
    REQUIRE(result.type() == type);
    if (type == ElementType::string)
      CHECK(std::ranges::equal(result.values<std::string_view>(), value.values<std::string_view>()));
    else CHECK(to_f64(result) == to_f64(value));
  }
}

TEST_CASE("a ReadValue brings its Assign along") {
  SmallModel m;
  const ovir::spec::AttributeTexts variable{{"variable_id", "v"}, {"variable_type", "f32"}, {"variable_shape", "2"}};
  const auto x = m.graph.parameter("x", ElementType::f32, {2});
  const auto zero = m.graph.constant("zero", floats({2}, {0, 0}));
  const auto read = m.graph.add("read", "ReadValue-6", {zero}, variable);
  const auto twice = m.graph.add("twice", "Add-1", {read, x}, {{"auto_broadcast", "numpy"}});
  const auto other = m.graph.add("other", "ReLU-1", {read});
  m.graph.sink("write", "Assign-6", twice, variable);
  m.graph.result("y", other);
  m.graph.result("z", twice);
  const auto c = m.check();
  const auto cut = tools::extract(*c.model, c.facts, {c.model.get(), {}, {}, {{node_of(*c.model, "other"), 0}}});
  const auto sub = check_sub(cut);
  CHECK(sub.model->nodes.size() == 7);
  auto session = ovir::compile(sub.model, sub.facts);
  const std::vector step{floats({2}, {1, 2})};
  CHECK(session.run(step)[0].values<float>()[1] == 0);
  CHECK(session.run(step)[0].values<float>()[1] == 2);
}
