// What an embedder may do wrong, or rarely does: it works or throws, and the session goes on afterwards.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>

#include "catch.hpp"
#include "harness/ways.hpp"
#include "op/kit/elementwise.hpp"
#include "small_model.hpp"

using namespace ovir;
using testing::kWays;

namespace {

const spec::AttributeTexts kVariable{{"variable_id", "v"}, {"variable_type", "f32"}, {"variable_shape", "2"}};

/// y = v + x; v = y. And x itself, and what is kept of it, as results.
SmallModel counter() {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {2});
  const auto held = m.graph.add("held", "ReadValue-6", {m.graph.constant("zero", floats({2}, {0, 0}))}, kVariable);
  const auto sum = m.graph.add("sum", "Add-1", {held, x});
  m.graph.sink("keep", "Assign-6", sum, kVariable);
  m.graph.result("y", sum);
  m.graph.result("through", x);
  m.graph.result("view", m.graph.add("wide", "Unsqueeze-1", {x, m.graph.constant("axis", Tensor::vector({0}))}));
  m.graph.result("held", held);
  return m;
}

/// The state becomes x, whatever it was.
SmallModel keeper() {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {2});
  const auto held = m.graph.add("held", "ReadValue-6", {m.graph.constant("zero", floats({2}, {0, 0}))}, kVariable);
  m.graph.sink("keep", "Assign-6", x, kVariable);
  m.graph.result("y", held);
  return m;
}

/// A few products and functions over [?,64].
Checked open_network() {
  SmallModel m;
  std::vector<float> values(64 * 64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 31 % 101) / 101.0F - 0.5F;
  const auto x = m.graph.parameter("x", ElementType::f32, PartialShape{Dim(), Dim(64)});
  auto y = m.graph.add("product", "MatMul-1", {x, m.graph.constant("w", floats({64, 64}, values))});
  y = m.graph.add("sum", "Add-1", {m.graph.add("tanh", "Tanh-1", {y}), x});
  y = m.graph.add("twice", "Concat-1", {y, x}, {{"axis", "0"}});
  m.graph.result("r", m.graph.add("softmax", "Softmax-8", {y}, {{"axis", "1"}}));
  return m.check();
}

Tensor rows(i64 n) {
  std::vector<float> values(static_cast<std::size_t>(n * 64));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 97) / 97.0F - 0.4F;
  return floats({n, 64}, values);
}

/// A loop of 2^40 rounds, which ends only where somebody ends it.
SmallModel endless() {
  SmallModel m;
  spec::GraphText body(m.bin);
  const auto go_on = Tensor::of<std::uint8_t>(ElementType::boolean, {}, std::vector<std::uint8_t>{1});
  const auto inner = body.parameter("inner", ElementType::f32, {2});
  body.result("next", body.add("relu", "Relu-1", {inner}));
  body.result("condition", body.constant("go on", go_on));
  const auto x = m.graph.parameter("x", ElementType::f32, {2});
  const auto loop =
      m.graph.layer("loop", "Loop", "opset5", "",
                    {m.graph.constant("count", Tensor::scalar(i64{1} << 40)), m.graph.constant("begin", go_on), x},
                    spec::output_port(3, ElementType::f32),
                    R"(<port_map><input external_port_id="2" internal_layer_id="0"/>)"
                    R"(<output external_port_id="3" internal_layer_id="2"/>)"
                    R"(<output external_port_id="-1" internal_layer_id="4" purpose="execution_condition"/></port_map>)"
                    R"(<back_edges><edge from-layer="2" to-layer="0"/></back_edges><body>)" +
                        body.text() + "</body>");
  m.graph.result("y", loop);
  return m;
}

std::shared_ptr<Runtime> runtime_of(int threads, i64 memory = 0) {
  RuntimeOptions options;
  options.threads = threads;
  options.memory = memory;
  options.work = std::numeric_limits<i64>::max();
  return std::make_shared<Runtime>(options);
}

Code code_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.diagnostic.code;
  }
  FAIL("nothing was thrown");
  return {};
}

struct Unreliable final : Observer {
  std::string at;
  bool throws = true;
  Verdict after(Event& event) override {
    if (event.node.layer->name != at) return Verdict::go_on;
    if (throws) throw std::runtime_error("the observer fails");
    event.outputs[0] = Tensor(ElementType::i32, {7});
    return Verdict::go_on;
  }
};

}  // namespace

TEST_CASE("an extension brings operations of its own") {
  static constexpr Version kVersions[] = {unary_version(
      1, [](EvalContext& c) { eval_unary<Numbers>(c, []<class T>(T x) { return static_cast<T>(x * x * x); }); })};
  // Its name is that of an operation that the fast tier has kernels for.
  static constexpr OpDef kCube{.type = "Relu", .set = "mine", .versions = kVersions};
  static constexpr const OpDef* kExtensions[] = {&kCube};
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {2});
  const auto cube = m.graph.layer("cube", "Relu", "mine", "", {x}, spec::output_port(1, ElementType::f32));
  m.graph.result("y", m.graph.add("sum", "Add-1", {m.graph.add("relu", "Relu-1", {cube}), x}));
  const MemoryFile xml(m.graph.xml());
  const xml::ReadOptions reading{.weights = {}, .no_weights = true};

  Diagnostics unknown, diagnostics;
  CHECK_FALSE(load(xml.path(), reading, unknown)->complete);
  REQUIRE(unknown.errors() == 1);
  CHECK(unknown.all()[0].code == Code::E0603);
  const auto model = load(xml.path(), reading, diagnostics, kExtensions);
  const auto facts = infer(*model, {}, diagnostics);
  REQUIRE(diagnostics.errors() == 0);
  for (const auto& way : kWays) {
    auto session = testing::open(model, facts, way);
    CHECK(same_bits(session.run(std::vector{floats({2}, {2, -3})}), {floats({2}, {10, -3})}));
  }

  static constexpr OpDef kNone{.type = "Cube", .versions = kVersions},
      kOpset{.type = "Cube", .set = "opset1", .versions = kVersions},
      kEmpty{.type = "Cube", .set = "mine", .versions = {}};
  for (const auto* wrong : {&kNone, &kOpset, &kEmpty})
    CHECK_THROWS_AS(load(xml.path(), reading, diagnostics, std::span(&wrong, 1)), std::invalid_argument);
}

TEST_CASE("a model that is not complete, or not sound, is not compiled") {
  SmallModel broken;
  broken.graph.result(
      "y", broken.graph.add("no", "NoSuchOperation-1", {broken.graph.parameter("x", ElementType::f32, {2})}));
  SmallModel wrong;
  const auto x = wrong.graph.parameter("x", ElementType::f32, {2});
  wrong.graph.result("y", wrong.graph.add("sum", "Add-1", {x, wrong.graph.constant("c", floats({3}, {1, 2, 3}))}));
  for (const auto* m : {&broken, &wrong}) {
    const auto c = m->check();
    REQUIRE(c.diagnostics.errors() == 1);
    CHECK(code_of([&] { (void)compile(c.model, c.facts); }) == Code::E0605);
    CHECK(code_of([&] { (void)plan(c.model, c.facts); }) == Code::E0605);
  }
  const auto c = counter().check(), other = keeper().check();
  CHECK(code_of([&] { (void)compile(nullptr, c.facts); }) == Code::E0605);
  CHECK(code_of([&] { (void)compile(c.model, Facts{}); }) == Code::E0605);
  CHECK(code_of([&] { (void)compile(c.model, other.facts); }) == Code::E0605);
  CHECK(code_of([&] { (void)plan(nullptr, c.facts); }) == Code::E0605);
  CHECK(code_of([&] { (void)plan(c.model, Facts{}); }) == Code::E0605);
  CHECK(code_of([&] { (void)plan(c.model, other.facts); }) == Code::E0605);
}

TEST_CASE("a session without a plan or a runtime is not made, and one that was moved from does nothing") {
  const auto c = counter().check();
  CHECK_THROWS_AS(compile(c.model, c.facts, {}, nullptr), std::invalid_argument);
  CHECK_THROWS_AS(Session(nullptr, plan(c.model, c.facts)), std::invalid_argument);
  CHECK_THROWS_AS(Session(std::make_shared<Runtime>(), nullptr), std::invalid_argument);
  auto first = compile(c.model, c.facts);
  auto second = std::move(first);
  CHECK_THROWS_AS(first.run(some_inputs(c)), std::logic_error);
  CHECK_THROWS_AS(first.inputs(), std::logic_error);
  first = std::move(second);
  CHECK(first.run(some_inputs(c)).size() == 4);
}

TEST_CASE("options that make no sense are refused or bounded") {
  const auto c = open_network();
  const auto inputs = std::vector{rows(3)};
  const auto expected = compile(c.model, c.facts).run(inputs);
  for (const i64 runs : {i64{0}, i64{-1}, std::numeric_limits<i64>::min(), std::numeric_limits<i64>::max()})
    for (const int threads : {-7, 0, 3})
      for (const i64 memory : {i64{-1}, i64{0}, std::numeric_limits<i64>::max()}) {
        Options options;
        options.expected_runs = runs;
        options.runtime.threads = threads;
        options.runtime.memory = memory;
        const auto results = compile(c.model, c.facts, options).run(inputs);
        CHECK(results.at(0).shape() == expected.at(0).shape());
      }
  Options options;
  options.without = {"fuze"};
  CHECK_THROWS_AS(compile(c.model, c.facts, options), std::invalid_argument);
  options.without = {"fuse", ""};
  CHECK_THROWS_AS(compile(c.model, c.facts, options), std::invalid_argument);
  options.without = {"lower"};  // no plan without it
  CHECK_THROWS_AS(compile(c.model, c.facts, options), std::invalid_argument);
  for (const auto* const name : {"fold", "layout", "packed_matmul", "bf16_matmul", "int8_convolution"}) {
    options.without = {name};
    CHECK_NOTHROW(compile(c.model, c.facts, options));
  }
  options = {};
  options.until = "fuze";
  CHECK_THROWS_AS(compile(c.model, c.facts, options), std::invalid_argument);
  options = {};
  options.runtime.time = std::chrono::nanoseconds(-1);
  CHECK(code_of([&] { compile(c.model, c.facts, options).run(inputs); }) == Code::E0003);
}

TEST_CASE("a plan that is half made runs, too") {
  const auto c = open_network();
  const auto inputs = std::vector{rows(3)};
  for (const auto& way : kWays) {
    const auto expected = to_f64(testing::open(c.model, c.facts, way).run(inputs).at(0));
    for (const auto* pass : {"precision", "fold", "fuse", "choose", "layout", "caches"}) {
      auto options = testing::options_of(way);
      options.until = pass;
      const auto results = to_f64(compile(c.model, c.facts, options).run(inputs).at(0));
      for (std::size_t i = 0; i < expected.size(); ++i) CHECK(std::abs(results[i] - expected[i]) <= 1e-5);
    }
  }
}

TEST_CASE("plan, session and results outlive what they were made of") {
  for (const auto& way : kWays) {
    std::shared_ptr<const Plan> made;
    std::shared_ptr<Runtime> runtime = std::make_shared<Runtime>();
    {
      const auto c = open_network();
      made = plan(c.model, c.facts, testing::options_of(way));
    }
    std::vector<Tensor> results, again;
    {
      Session session(runtime, made);
      made.reset();
      runtime.reset();
      results = session.run(std::vector{rows(2)});
      again = session.run(std::vector{rows(2)});
    }
    CHECK(same_bits(results, again));
  }
}

TEST_CASE("inputs are read during the call only") {
  for (const auto& way : kWays) {
    const auto c = counter().check();
    auto session = testing::open(c.model, c.facts, way);
    std::vector<Tensor> results;
    {
      auto buffer = std::make_unique<float[]>(2);
      buffer[0] = 1;
      buffer[1] = 10;
      const std::shared_ptr<const void> nobody(buffer.get(), [](const void*) {});
      const Tensor foreign(ElementType::f32, {2}, nobody, reinterpret_cast<const std::byte*>(buffer.get()));
      results = session.run(std::vector{foreign});
      buffer[0] = buffer[1] = 99;
    }
    for (const int k : {0, 1, 2}) CHECK(to_f64(results.at(static_cast<std::size_t>(k))) == std::vector<double>{1, 10});
    CHECK(to_f64(session.run(std::vector{floats({2}, {0, 0})}).at(0)) == std::vector<double>{1, 10});
  }
}

TEST_CASE("an input that becomes a state is copied") {
  const auto c = keeper().check();
  for (const auto& way : kWays) {
    auto session = testing::open(c.model, c.facts, way);
    auto buffer = floats({2}, {3, 4});
    session.run(std::vector{buffer});
    buffer.mutable_data<float>()[0] = 99;
    CHECK(to_f64(session.run(std::vector{buffer}).at(0)) == std::vector<double>{3, 4});
    auto given = floats({2}, {5, 6});
    session.set_state("v", given);
    given.mutable_data<float>()[0] = 99;
    CHECK(to_f64(session.run(std::vector{buffer}).at(0)) == std::vector<double>{5, 6});
  }
}

TEST_CASE("a result, or a state that was asked for, may be written to") {
  const auto c = counter().check();
  for (const auto& way : kWays) {
    INFO(way.name);
    auto session = testing::open(c.model, c.facts, way);
    for (int i = 1; i <= 4; ++i) {
      auto results = session.run(std::vector{floats({2}, {1, 10})});
      CHECK(to_f64(results.at(0)) == std::vector<double>{1.0 * i, 10.0 * i});
      for (auto& r : results) std::memset(r.mutable_bytes(), 0x7f, r.byte_size());
      auto state = session.state("v");
      CHECK(to_f64(state) == std::vector<double>{1.0 * i, 10.0 * i});
      std::memset(state.mutable_bytes(), 0x7f, state.byte_size());
    }
  }
}

TEST_CASE("an observer that throws, or answers nonsense, ends its run only") {
  const auto c = counter().check();
  for (const auto& way : kWays) {
    auto session = testing::open(c.model, c.facts, way);
    for (const auto* layer : {"x", "held", "sum", "y"}) {
      Unreliable observer;
      observer.at = layer;
      CHECK_THROWS_AS(session.run(std::vector{floats({2}, {1, 1})}, &observer), std::runtime_error);
    }
    Unreliable observer;
    observer.at = "sum";
    observer.throws = false;
    CHECK_THROWS_AS(session.run(std::vector{floats({2}, {1, 1})}, &observer), std::logic_error);
    CHECK(to_f64(session.run(std::vector{floats({2}, {1, 2})}).at(0)) == std::vector<double>{1, 2});
  }
}

TEST_CASE("a session runs once at a time") {
  struct Caller final : Observer {
    Session* session = nullptr;
    int refused = 0;
    Verdict after(Event&) override {
      try {
        session->run(std::vector{floats({2}, {1, 1})});
      } catch (const std::logic_error&) {
        ++refused;
      }
      return Verdict::go_on;
    }
  };
  const auto c = counter().check();
  auto session = compile(c.model, c.facts);
  Caller caller;
  caller.session = &session;
  CHECK(to_f64(session.run(std::vector{floats({2}, {1, 2})}, &caller).at(0)) == std::vector<double>{1, 2});
  CHECK(caller.refused > 0);
}

TEST_CASE("a run is stopped from another thread, and others follow") {
  const auto m = endless();
  const auto c = m.check();
  for (const auto& d : c.diagnostics.all()) UNSCOPED_INFO(d.message);
  REQUIRE(c.diagnostics.errors() == 0);
  const auto sums = counter().check();
  for (const auto& way : kWays) {
    const auto runtime = runtime_of(2);
    auto session = compile(c.model, c.facts, testing::options_of(way), runtime);
    auto other = compile(sums.model, sums.facts, testing::options_of(way), runtime);
    for (int i = 0; i < 2; ++i) {
      const std::jthread stopper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        runtime->stop();
      });
      CHECK(code_of([&] { session.run(some_inputs(c)); }) == Code::E0003);
      CHECK(code_of([&] { other.run(some_inputs(sums)); }) == Code::E0003);
      runtime->resume();
      CHECK(to_f64(other.run(std::vector{floats({2}, {1, 2})}).at(0)) == std::vector<double>{1.0 + i, 2.0 + 2 * i});
    }
  }
}

TEST_CASE("a run over its time ends") {
  const auto c = endless().check();
  for (const auto& way : kWays) {
    auto options = testing::options_of(way);
    options.runtime.time = std::chrono::milliseconds(20);
    options.runtime.work = std::numeric_limits<i64>::max();  // the time decides
    CHECK(code_of([&] { compile(c.model, c.facts, options).run(some_inputs(c)); }) == Code::E0003);
  }
}

TEST_CASE("a run over the budget ends, and smaller ones go on") {
  const auto c = open_network();
  for (const auto& way : kWays) {
    INFO(way.name);
    const auto runtime = runtime_of(2, i64{4} << 20);
    {
      auto session = compile(c.model, c.facts, testing::options_of(way), runtime);
      for (int i = 0; i < 3; ++i) {
        CHECK(session.run(std::vector{rows(50)}).at(0).shape() == Shape{100, 64});
        const auto large = rows(20000);  // 5 MB
        CHECK(code_of([&] { session.run(std::vector{large}); }) == Code::E0003);
      }
      CHECK(session.run(std::vector{rows(51)}).at(0).shape() == Shape{102, 64});
    }
    CHECK(runtime->memory()->used() == 0);
  }
}

TEST_CASE("many shapes in turn do not use up the memory, and each gives what it gave before") {
  const auto c = open_network();
  for (const auto& way : kWays) {
    INFO(way.name);
    // About four times what the largest takes: not all of those that the session keeps fit at once.
    const auto runtime = runtime_of(2, i64{16} << 20);
    auto session = compile(c.model, c.facts, testing::options_of(way), runtime);
    for (int round = 0; round < 3; ++round)
      for (i64 n = 1900; n < 1920; ++n) {
        const auto results = session.run(std::vector{rows(n)});
        const auto again = session.run(std::vector{rows(n)});
        CHECK(same_bits(results, again));
        auto fresh = testing::open(c.model, c.facts, way);
        if (n % 7 == 0) CHECK(same_bits(fresh.run(std::vector{rows(n)}), results));
      }
    for (const i64 n : {0, 1, 0, 3, 1}) CHECK(session.run(std::vector{rows(n)}).at(0).shape() == Shape{2 * n, 64});
  }
}

TEST_CASE("storage does not grow with every length that is new") {
  const auto c = open_network();
  for (const auto& way : kWays) {
    INFO(way.name);
    const auto runtime = runtime_of(1);
    auto session = compile(c.model, c.facts, testing::options_of(way), runtime);
    for (i64 n = 200; n < 500; ++n) session.run(std::vector{rows(n)});
    // A run of 500 rows has some ten values of 128 kB; kept are a few runs.
    CHECK(runtime->memory()->used() < 20 << 20);
  }
}

TEST_CASE("sessions of one plan run with different shapes in different threads") {
  const auto c = open_network();
  for (const auto& way : kWays) {
    const auto made = plan(c.model, c.facts, testing::options_of(way));
    const auto runtime = runtime_of(2);
    std::atomic<int> wrong = 0;
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 3; ++t)
        threads.emplace_back([&, t] {
          Session session(runtime, made);
          for (int i = 0; i < 20; ++i) {
            const auto n = 1 + (i * (t + 2)) % 11;
            Session fresh(runtime, made);
            wrong += same_bits(session.run(std::vector{rows(n)}), fresh.run(std::vector{rows(n)})) ? 0 : 1;
          }
        });
    }
    INFO(way.name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("a state has the variable's type and shape") {
  const auto c = counter().check();
  for (const auto& way : kWays) {
    auto session = testing::open(c.model, c.facts, way);
    CHECK(code_of([&] { session.set_state("w", floats({2}, {1, 2})); }) == Code::E0701);
    CHECK(code_of([&] { session.set_state("v", floats({3}, {1, 2, 3})); }) == Code::E0703);
    CHECK(code_of([&] { session.set_state("v", floats({}, {1})); }) == Code::E0703);
    CHECK(code_of([&] { session.set_state("v", Tensor(ElementType::i32, {2})); }) == Code::E0704);
    CHECK(code_of([&] { session.set_state("v", Tensor(ElementType::f16, {2})); }) == Code::E0704);
    CHECK(code_of([&] { session.set_state("v", Tensor()); }) == Code::E0704);
    CHECK(code_of([&] { (void)session.state("w"); }) == Code::E0701);
    CHECK(!session.state("v"));
    session.set_state("v", floats({2}, {1, 2}));
    CHECK(to_f64(session.run(std::vector{floats({2}, {1, 1})}).at(0)) == std::vector<double>{2, 3});
  }
}

TEST_CASE("a state of a narrow float goes in and out as it is declared, or as f32") {
  SmallModel m;
  const spec::AttributeTexts variable{{"variable_id", "v"}, {"variable_type", "f16"}, {"variable_shape", "2"}};
  const auto x = m.graph.parameter("x", ElementType::f16, {2});
  const auto held = m.graph.add("held", "ReadValue-6",
                                {m.graph.constant("zero", convert(floats({2}, {0, 0}), ElementType::f16))}, variable);
  const auto sum = m.graph.add("sum", "Add-1", {held, x});
  m.graph.sink("keep", "Assign-6", sum, variable);
  m.graph.result("y", sum);
  const auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  const auto one = std::vector{convert(floats({2}, {1, 2}), ElementType::f16)};
  for (const auto& way : kWays) {
    INFO(way.name);
    for (const auto precision : {Precision::f32, Precision::declared}) {
      auto options = testing::options_of(way);
      options.precision = precision;
      auto session = compile(c.model, c.facts, options);
      session.set_state("v", convert(floats({2}, {3, 4}), ElementType::f16));
      CHECK(to_f64(session.run(one).at(0)) == std::vector<double>{4, 6});
      CHECK(to_f64(session.state("v")) == std::vector<double>{4, 6});
      session.set_state("v", session.state("v"));
      CHECK(to_f64(session.run(one).at(0)) == std::vector<double>{5, 8});
    }
  }
}
