// Sessions: inputs are checked, states are kept, results are the caller's, in every way to run.
#include <algorithm>
#include <map>

#include "catch.hpp"
#include "exec/profiler.hpp"
#include "harness/ways.hpp"
#include "small_model.hpp"

using namespace ovir;
using testing::kWays;

namespace {

const spec::AttributeTexts kVariable{{"variable_id", "v"}, {"variable_type", "f32"}, {"variable_shape", "2"}};

/// y = v + x; v = y, where v begins as 0.
SmallModel counter() {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {2});
  const auto zero = m.graph.constant("zero", floats({2}, {0, 0}));
  const auto held = m.graph.add("held", "ReadValue-6", {zero}, kVariable);
  const auto sum = m.graph.add("sum", "Add-1", {held, x});
  m.graph.sink("keep", "Assign-6", sum, kVariable);
  m.graph.result("y", sum);
  return m;
}

/// The state becomes whatever is given; `behind` computes with it as of shape [2].
SmallModel any_state(std::string_view behind, const spec::AttributeTexts& attributes, const Tensor& second) {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, PartialShape::unknown_rank());
  const auto held = m.graph.add("held", "ReadValue-6", {m.graph.constant("first", floats({2}, {3, 4}))}, kVariable);
  std::vector<int> inputs{held};
  if (second) inputs.push_back(m.graph.constant("second", second));
  m.graph.result("y", m.graph.add("behind", behind, inputs, attributes));
  m.graph.sink("keep", "Assign-6", x, kVariable);
  return m;
}

/// Keeps a copy of output 0 of every layer.
struct Seen final : Observer {
  std::multimap<std::string, Tensor> values;
  std::string stop_at;

  Verdict after(Event& event) override {
    if (event.outputs[0]) values.emplace(event.node.layer->name, event.outputs[0].copied());
    return event.node.layer->name == stop_at ? Verdict::stop : Verdict::go_on;
  }
};

Code code_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.diagnostic.code;
  }
  FAIL("nothing was thrown");
  return {};
}

}  // namespace

TEST_CASE("states are kept from run to run, by each session for itself") {
  const auto c = counter().check();
  REQUIRE(c.diagnostics.errors() == 0);
  for (const auto& way : kWays) {
    auto session = testing::open(c.model, c.facts, way), other = testing::open(c.model, c.facts, way);
    for (int step = 1; step <= 3; ++step) {
      const auto results = session.run(std::vector{floats({2}, {1, 10})});
      CHECK(to_f64(results.at(0)) == std::vector<double>{1.0 * step, 10.0 * step});
    }
    CHECK(to_f64(other.run(std::vector{floats({2}, {5, 5})}).at(0)) == std::vector<double>{5, 5});
    session.reset_states();
    CHECK(to_f64(session.run(std::vector{floats({2}, {1, 1})}).at(0)) == std::vector<double>{1, 1});
  }
}

TEST_CASE("a result stays as it is when the session runs again") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {64, 64});
  const auto y = m.graph.add("y", "MatMul-1", {x, x}, {{"transpose_a", "false"}, {"transpose_b", "true"}});
  m.graph.result("r", m.graph.add("relu", "Relu-1", {y}));
  const auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  for (const auto& way : kWays) {
    auto session = testing::open(c.model, c.facts, way);
    const auto first = session.run(some_inputs(c, 1));
    const auto before = to_f64(first.at(0));
    for (int seed = 2; seed < 6; ++seed) session.run(some_inputs(c, seed));
    CHECK(to_f64(first.at(0)) == before);
    CHECK(same_bits(session.run(some_inputs(c, 1)), first));
  }
}

TEST_CASE("inputs of another type or shape are refused before anything runs") {
  const auto c = counter().check();
  for (const auto& way : kWays) {
    auto session = testing::open(c.model, c.facts, way);
    CHECK(code_of([&] { session.run(std::vector{Tensor(ElementType::i32, {2})}); }) == Code::E0704);
    CHECK(code_of([&] { session.run(std::vector{floats({3}, {1, 2, 3})}); }) == Code::E0703);
    CHECK(to_f64(session.run(std::vector{floats({2}, {1, 2})}).at(0)) == std::vector<double>{1, 2});
  }
}

// As decoders keep the keys and values of an encoder's output, which are initial values of states.
TEST_CASE("an initial value is computed only where the state has no value") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, PartialShape({Dim(), Dim()}));
  const auto rows = m.graph.constant("rows", floats({3, 2}, {1, 0, 0, 1, 1, 1}));
  const auto product = m.graph.add("product", "MatMul-1", {x, rows});
  const auto first = m.graph.add("first", "Relu-1", {product});
  const spec::AttributeTexts variable{{"variable_id", "v"}, {"variable_type", "f32"}, {"variable_shape", "?,2"}};
  const auto held = m.graph.add("held", "ReadValue-6", {first}, variable);
  m.graph.sink("keep", "Assign-6", held, variable);
  m.graph.result("y", m.graph.add("negative", "Negative-1", {held}));
  const auto c = m.check();
  for (const auto& d : c.diagnostics.all()) INFO(d.message);
  REQUIRE(c.diagnostics.errors() == 0);
  const auto good = floats({1, 3}, {1, 2, 3}), other = floats({1, 3}, {5, 5, 5}), wrong = floats({1, 4}, {1, 2, 3, 4});
  for (const auto& way : kWays) {
    auto session = testing::open(c.model, c.facts, way);
    CHECK(code_of([&] { session.run(std::vector{wrong}); }) != Code{});
    for (const auto& given : {good, other, wrong, other})
      CHECK(to_f64(session.run(std::vector{given}).at(0)) == std::vector<double>{-4, -5});
    // One that is of no use is seen where it can be computed.
    Seen seen;
    CHECK(to_f64(session.run(std::vector{wrong}, &seen).at(0)) == std::vector<double>{-4, -5});
    CHECK(seen.values.count("product") == 0);
    CHECK(to_f64(session.run(std::vector{other}, &seen).at(0)) == std::vector<double>{-4, -5});
    CHECK(to_f64(seen.values.find("product")->second) == std::vector<double>{10, 10});
    session.reset_states();
    CHECK(code_of([&] { session.run(std::vector{wrong}); }) != Code{});
    CHECK(to_f64(session.run(std::vector{other}).at(0)) == std::vector<double>{-10, -10});
    CHECK(to_f64(session.run(std::vector{good}).at(0)) == std::vector<double>{-10, -10});
  }
}

// The shapes of inputs and states are the same in each run.
TEST_CASE("a variable without a value has as many elements as its initial value has in this run") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {8}), n = m.graph.parameter("n", ElementType::i64, {1});
  const auto zero = m.graph.constant("zero", Tensor::vector({0})), one = m.graph.constant("one", Tensor::vector({1}));
  const auto first = m.graph.add("first", "Slice-8", {x, zero, n, one});
  const auto held = m.graph.add("held", "ReadValue-6", {first},
                                {{"variable_id", "v"}, {"variable_type", "f32"}, {"variable_shape", "?"}});
  const auto relu = m.graph.add("relu", "Relu-1", {held});
  m.graph.result("y", m.graph.add("twice", "Concat-1", {relu, relu}, {{"axis", "0"}}));
  const auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  for (const auto& way : kWays) {
    auto session = testing::open(c.model, c.facts, way);
    for (const i64 count : {2, 3, 5, 1, 5, 0, 8}) {
      std::vector<double> expected;
      for (int i = 0; i < 2; ++i)
        for (i64 k = 1; k <= count; ++k) expected.push_back(static_cast<double>(k));
      const std::vector given{floats({8}, {1, 2, 3, 4, 5, 6, 7, 8}), Tensor::vector({count})};
      CHECK(to_f64(session.run(given).at(0)) == expected);
    }
  }
}

TEST_CASE("states of the same shapes in other variables are other states") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, PartialShape({Dim(), 4}));
  for (const std::string name : {"a", "b"}) {
    const spec::AttributeTexts variable{{"variable_id", name}, {"variable_type", "f32"}, {"variable_shape", "?,4"}};
    const auto held = m.graph.add("held/" + name, "ReadValue-6", {x}, variable);
    m.graph.sink("keep/" + name, "Assign-6", held, variable);
    m.graph.result(name, m.graph.add("relu/" + name, "Relu-1", {held}));
  }
  const auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  const auto of = [](i64 rows) { return Tensor(ElementType::f32, {rows, 4}); };
  for (const auto& way : kWays) {
    auto session = testing::open(c.model, c.facts, way);
    for (const std::string name : {"a", "b", "a", "b"}) {
      session.reset_states();
      session.set_state(name, of(5));
      const auto results = session.run(std::vector{of(3)});
      CHECK(results.at(0).shape() == Shape{name == "a" ? 5 : 3, 4});
      CHECK(results.at(1).shape() == Shape{name == "b" ? 5 : 3, 4});
    }
  }
}

TEST_CASE("a state of another shape ends the run before anything computes with it") {
  const auto two = floats({2}, {1, 2});
  const auto axis = Tensor::of<i64>(ElementType::i64, {}, std::vector<i64>{0});
  struct Behind {
    std::string_view operation;
    spec::AttributeTexts attributes;
    Tensor second;
  };
  const Behind list[] = {
      {"Add-1", {}, two},
      {"Softmax-8", {{"axis", "0"}}, {}},
      {"CumSum-3", {}, axis},
      {"Reverse-1", {{"mode", "index"}}, Tensor::vector({0})},
      {"Transpose-1", {}, Tensor::vector({0})},
  };
  for (const auto& behind : list) {
    INFO(behind.operation);
    const auto m = any_state(behind.operation, behind.attributes, behind.second);
    const auto c = m.check();
    for (const auto& d : c.diagnostics.all()) INFO(d.message);
    REQUIRE(c.diagnostics.errors() == 0);
    for (const auto& way : kWays) {
      for (const auto& given : {floats({2, 2}, {1, 2, 3, 4}), floats({}, {1}), floats({0}, {}), floats({1}, {1}),
                                floats({1000}, std::vector<float>(1000, 1.0F))}) {
        auto session = testing::open(c.model, c.facts, way);
        session.run(std::vector{given});
        CHECK(code_of([&] { session.run(std::vector{given}); }) == Code::E0505);
        session.reset_states();
        session.run(std::vector{two});
        CHECK(session.run(std::vector{two}).size() == 1);
      }
    }
  }
}

// torch.cumsum of a mask, as OpenVINO converts it: boolean, though what reads it wants the counts.
TEST_CASE("CumSum of booleans counts them, for who reads more than whether they are set") {
  SmallModel m;
  const auto mask = m.graph.parameter("mask", ElementType::boolean, {5});
  const auto sums = m.graph.add(
      "sums", "CumSum-3", {mask, m.graph.constant("axis", Tensor::of<i64>(ElementType::i64, {}, std::vector<i64>{0}))});
  m.graph.result("counts", m.graph.add("count", "Convert-1", {sums}, {{"destination_type", "i64"}}));
  const auto last = m.graph.add(
      "last", "Gather-8",
      {sums, m.graph.constant("index", Tensor::vector({4})), m.graph.constant("along", Tensor::vector({0}))});
  m.graph.result("as_last", m.graph.add("equal", "Equal-1", {sums, last}));
  m.graph.result("none", m.graph.add("not", "LogicalNot-1", {sums}));
  const auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  const auto given = Tensor::of<std::uint8_t>(ElementType::boolean, {5}, std::vector<std::uint8_t>{0, 1, 0, 1, 1});
  for (const auto& way : kWays) {
    const auto out = testing::open(c.model, c.facts, way).run(std::vector{given});
    CHECK(to_f64(out.at(0)) == std::vector<double>{0, 1, 1, 2, 3});
    CHECK(to_f64(out.at(1)) == std::vector<double>{0, 0, 0, 0, 1});
    CHECK(to_f64(out.at(2)) == std::vector<double>{1, 0, 0, 0, 0});
  }
}

TEST_CASE("an observer sees the value of every layer, and changes nothing") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {8});
  const auto a = m.graph.add("a", "Sigmoid-1", {x});
  const auto b = m.graph.add("b", "Multiply-1", {a, x});
  m.graph.result("y", m.graph.add("c", "Relu-1", {b}));
  const auto c = m.check();
  for (const auto& way : kWays) {
    const auto expected = testing::open(c.model, c.facts, way).run(some_inputs(c));
    auto session = testing::open(c.model, c.facts, way, true);
    Seen seen;
    const auto results = session.run(some_inputs(c), &seen);
    CHECK(same_bits(results, expected));
    CHECK(!session.stopped());
    for (const auto* name : {"x", "a", "b", "c"}) {
      REQUIRE(seen.values.count(name) == 1);
      CHECK(c.fact(name).shape.contains(seen.values.find(name)->second.shape()));
    }
    seen.stop_at = "b";
    CHECK(session.run(some_inputs(c), &seen).empty());
    CHECK(session.stopped());
    CHECK(same_bits(session.run(some_inputs(c)), expected));
  }
}

TEST_CASE("an observer sees both outputs of a maximum that is computed on levels") {
  SmallModel m;
  const auto number = [&](const char* name, float v) { return m.graph.constant(name, floats({}, {v})); };
  const auto low = number("low", 0), high = number("high", 255);
  const auto x = m.graph.parameter("x", ElementType::f32, {1, 64, 4, 4});
  const auto levels = m.graph.add("levels", "FakeQuantize-1", {x, low, high, low, high}, {{"levels", "256"}});
  const auto pool = m.graph.add("pool", "MaxPool-8", {levels},
                                {{"strides", "2,2"},
                                 {"dilations", "1,1"},
                                 {"pads_begin", "0,0"},
                                 {"pads_end", "0,0"},
                                 {"kernel", "2,2"},
                                 {"index_element_type", "i64"},
                                 {"axis", "0"}});
  std::vector<std::int8_t> ones(64 * 64, 1);
  const auto codes = m.graph.constant("codes", Tensor::of<std::int8_t>(ElementType::i8, {64, 64, 1, 1}, ones));
  const auto wide = m.graph.add("wide", "Convert-1", {codes}, {{"destination_type", "f32"}});
  const auto weights = m.graph.add("weights", "Multiply-1", {wide, number("step", 1)});
  m.graph.result("y",
                 m.graph.add("sum", "Convolution-1", {pool, weights},
                             {{"strides", "1,1"}, {"dilations", "1,1"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}}));
  const auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  std::vector<float> pixels(64 * 16);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i * 37 % 251);
  std::vector<double> maxima(64 * 4);
  for (std::size_t i = 0; i < maxima.size(); ++i) {
    const auto corner = i / 4 * 16 + i / 2 % 2 * 8 + i % 2 * 2;
    maxima[i] = std::max({pixels[corner], pixels[corner + 1], pixels[corner + 4], pixels[corner + 5]});
  }
  auto session = compile(c.model, c.facts, {.precision = Precision::int8, .expected_runs = 100});
  Seen seen;
  session.run(std::vector{floats({1, 64, 4, 4}, pixels)}, &seen);
  REQUIRE(seen.values.count("pool") == 1);
  CHECK(to_f64(seen.values.find("pool")->second) == maxima);
}

TEST_CASE("dims that were open are inferred again with every input") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, PartialShape{Dim(), Dim()});
  const auto y = m.graph.parameter("y", ElementType::f32, PartialShape{Dim(), Dim()});
  m.graph.result("z", m.graph.add("sum", "Add-1", {x, y}));
  const auto c = m.check();
  for (const auto& way : kWays) {
    auto session = testing::open(c.model, c.facts, way);
    for (const i64 n : {1, 5, 0, 3}) {
      const auto one = floats({1, n}, std::vector<float>(static_cast<std::size_t>(n), 1.0F));
      const auto results = session.run(std::vector{one, floats({2, 1}, {1, 2})});
      CHECK(results.at(0).shape() == Shape{2, n});
    }
    CHECK(code_of([&] { session.run(std::vector{floats({1, 2}, {1, 2}), floats({1, 3}, {1, 2, 3})}); }) == Code::E0505);
    CHECK(session.run(std::vector{floats({1, 1}, {1}), floats({1, 1}, {2})}).at(0).shape() == Shape{1, 1});
  }
}

namespace {

/// Whether the steps of the last run were planned for the sizes that they had, and how many weights this packed.
/// Whole numbers around 0, so that sums are exact in any order: so many, one of `period` after the other.
std::vector<float> around_0(i64 count, i64 period, i64 first = 0) {
  std::vector<float> numbers;
  for (i64 i = 0; i < count; ++i) numbers.push_back(static_cast<float>((i + first) % period - period / 2));
  return numbers;
}

struct Planned final : Profiler {
  bool sizes_known = true;
  i64 packed = 0;

  void after(const StepTime& time) override {
    packed = time.plan.packed;
    for (const auto id : time.step.outputs) sizes_known = sizes_known && time.plan.value(id).shape.is_static();
  }
};

}  // namespace

TEST_CASE("an observer sees what becomes of weights of f16 that kernels read as they are") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, PartialShape{1, 128});
  std::vector<float> numbers(160 * 128);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 9) - 4;
  const auto stored = m.graph.constant("stored", convert(floats({160, 128}, numbers), ElementType::f16));
  const auto weights = m.graph.add("weights", "Convert-1", {stored}, {{"destination_type", "f32"}});
  const auto y = m.graph.add("y", "MatMul-1", {x, weights}, {{"transpose_b", "true"}});
  m.graph.result("r", y);
  const auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  for (const i64 runs : {1, 1000}) {
    auto session = compile(c.model, c.facts, {.expected_runs = runs});
    for (int run = 0; run < 2; ++run) {
      Seen seen;
      session.run(std::vector{floats({1, 128}, std::vector<float>(128, 1))}, &seen);
      for (const auto* name : {"stored", "weights"}) {
        INFO(name << ", planned for " << runs);
        REQUIRE(seen.values.count(name) == 1);
        CHECK(to_f64(seen.values.find(name)->second) == std::vector<double>(numbers.begin(), numbers.end()));
      }
    }
  }
}

TEST_CASE("images and sequences of open sizes are run by a plan for their sizes, at once") {
  const bool image = GENERATE(true, false);
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32,
                                   image ? PartialShape{Dim(), 3, Dim(), Dim()} : PartialShape{Dim(), 3, Dim()});
  const Shape shape = image ? Shape{8, 3, 3, 3} : Shape{8, 3, 3};
  const auto filters = around_0(shape.count(), 7);
  const std::string one = image ? "1,1" : "1";
  const auto y = m.graph.add("y", "Convolution-1", {x, m.graph.constant("w", floats(shape, filters))},
                             {{"strides", one}, {"dilations", one}, {"pads_begin", one}, {"pads_end", one}});
  m.graph.result("r", m.graph.add("relu", "Relu-1", {y}));
  const auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  auto reference = compile(c.model, c.facts, {.tier = Tier::reference});
  auto often = compile(c.model, c.facts, {.expected_runs = 1000});
  auto once = compile(c.model, c.facts);
  const auto is_planned = [](Session& session, const std::vector<Tensor>& inputs) {
    Planned profiler;
    session.set_profiler(&profiler);
    session.run(inputs);
    session.set_profiler(nullptr);
    return profiler.sizes_known;
  };
  for (const i64 side : {5, 8}) {
    const auto pixels = around_0(2 * 3 * side * side, 11);
    const std::vector inputs{floats(image ? Shape{2, 3, side, side} : Shape{2, 3, side * side}, pixels)};
    const auto wanted = to_f64(reference.run(inputs).at(0));
    CHECK(is_planned(often, inputs));
    for (int run = 0; run < 3; ++run) CHECK(to_f64(often.run(inputs).at(0)) == wanted);
    CHECK(to_f64(once.run(inputs).at(0)) == wanted);
    CHECK(is_planned(once, inputs));
    // What was there before is still there.
    CHECK(code_of([&] {
            often.run(std::vector{floats(image ? Shape{1, 2, 1, 1} : Shape{1, 2, 1}, {1, 2})});
          }) == Code::E0703);
  }
}

TEST_CASE("many sizes in turn get plans of their own, which share what is packed") {
  const auto precision = GENERATE(Precision::f32, Precision::bf16);
  const bool computed = GENERATE(false, true);  // the filters, of integers
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, PartialShape{Dim(), 32, Dim(), Dim()});
  const Shape shape{33, 32, 3, 3};
  const auto filters = around_0(shape.count(), 7);
  auto w = m.graph.constant("w", floats(shape, filters));
  if (computed) {
    std::vector<std::int8_t> integers(filters.begin(), filters.end());
    const auto from = m.graph.constant("w8", Tensor::of<std::int8_t>(ElementType::i8, shape, integers));
    const auto wide = m.graph.add("wide", "Convert-1", {from}, {{"destination_type", "f32"}});
    const auto scale = m.graph.constant("scale", floats({33, 1, 1, 1}, std::vector<float>(33, 0.5F)));
    w = m.graph.add("scaled", "Multiply-1", {wide, scale}, {{"auto_broadcast", "numpy"}});
  }
  const auto y = m.graph.add("y", "Convolution-1", {x, w},
                             {{"strides", "2,2"}, {"dilations", "1,1"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}});
  m.graph.result("r", y);
  const auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  auto reference = compile(c.model, c.facts, {.tier = Tier::reference});
  auto often = compile(c.model, c.facts, {.precision = precision, .expected_runs = 1000});
  for (int round = 0; round < 12; ++round)
    for (i64 width = 3; width < 14; ++width) {
      const auto pixels = around_0(32 * 5 * width, 11, round);
      const std::vector inputs{floats(Shape{1, 32, 5, width}, pixels)};
      Planned profiler;
      often.set_profiler(&profiler);
      const auto result = often.run(inputs).at(0);
      often.set_profiler(nullptr);
      INFO("round " << round << ", width " << width);
      CHECK(profiler.sizes_known);
      CHECK((profiler.packed == 0 || width == 3));
      if (round % 5 == 0) CHECK(to_f64(result) == to_f64(reference.run(inputs).at(0)));
    }
}

TEST_CASE("of many sizes that filters follow from some are run by the plan for all sizes") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, PartialShape{1, 64, Dim(), Dim()});
  const Shape shape{64, 64, 3, 3};
  const auto filters = around_0(shape.count(), 7);
  const auto sizes = m.graph.add("sizes", "ShapeOf-3", {x}, {{"output_type", "i64"}});
  const auto last = m.graph.constant("last", Tensor::vector({3})), axis = m.graph.constant("axis", Tensor::scalar(0));
  const auto width = m.graph.add("width", "Gather-8", {sizes, last, axis}, {{"batch_dims", "0"}});
  const auto factor = m.graph.add("factor", "Convert-1", {width}, {{"destination_type", "f32"}});
  const auto scaled = m.graph.add("scaled", "Multiply-1", {m.graph.constant("w", floats(shape, filters)), factor},
                                  {{"auto_broadcast", "numpy"}});
  const auto y = m.graph.add("y", "Convolution-1", {x, scaled},
                             {{"strides", "1,1"}, {"dilations", "1,1"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}});
  m.graph.result("r", y);
  const auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  auto reference = compile(c.model, c.facts, {.tier = Tier::reference});
  auto often = compile(c.model, c.facts, {.expected_runs = 1000});
  int planned = 0;
  for (i64 wide = 5; wide < 29; ++wide) {
    const auto pixels = around_0(64 * 5 * wide, 11);
    const std::vector inputs{floats(Shape{1, 64, 5, wide}, pixels)};
    Planned profiler;
    often.set_profiler(&profiler);
    CHECK(to_f64(often.run(inputs).at(0)) == to_f64(reference.run(inputs).at(0)));
    often.set_profiler(nullptr);
    planned += profiler.sizes_known ? 1 : 0;
  }
  CHECK(planned == 6);  // the first four of 24, and then one in eight runs
}
