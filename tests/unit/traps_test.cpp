// Traps: the first event of a run, its element, operands and cause.
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "small_model.hpp"
#include "tools/traps.hpp"

using namespace ovir;
using tools::Trap;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

/// An event, perhaps, and the model that it speaks of.
struct Found {
  Checked c;
  std::optional<tools::TrapEvent> event{};

  explicit operator bool() const { return event.has_value(); }
  const tools::TrapEvent* operator->() const { return &*event; }
  const tools::TrapEvent& operator*() const { return *event; }
};

Found first(const SmallModel& m, const std::vector<Tensor>& inputs, std::string_view traps) {
  Found found{m.check()};
  REQUIRE(found.c.diagnostics.errors() == 0);
  found.event = tools::first_trap(found.c.model, found.c.facts, inputs, tools::parse_traps(traps));
  return found;
}

/// "port[index]=value" of each operand.
std::vector<std::string> operands(const tools::TrapEvent& event) {
  std::vector<std::string> list;
  for (const auto& o : event.operands) list.push_back(fmt::format("{}{}={}", o.port, to_string(o.index), o.value));
  return list;
}

/// One operation on Parameters of these values.
SmallModel node(const std::string& operation, const std::vector<Tensor>& inputs,
                const spec::AttributeTexts& attributes = {}) {
  SmallModel m;
  std::vector<int> ids;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    ids.push_back(m.graph.parameter(fmt::format("x{}", i), inputs[i].type(), PartialShape(inputs[i].shape())));
  m.graph.result("y", m.graph.add("node", operation, ids, attributes));
  return m;
}

}  // namespace

TEST_CASE("a NaN is told with the operand elements that make it") {
  const auto check = [](const std::string& operation, const std::vector<Tensor>& inputs, const Shape& index,
                        const std::vector<std::string>& due_to, const spec::AttributeTexts& attributes = {}) {
    INFO(operation);
    const auto event = first(node(operation, inputs, attributes), inputs, "nan");
    REQUIRE(event);
    CHECK(event->trap == Trap::nan);
    CHECK(event->at.layer().name == "node");
    CHECK(event->at.index == index);
    CHECK(operands(*event) == due_to);
  };
  check("Sqrt-1", {floats({2, 2}, {1, 2, -3, 4})}, {1, 0}, {"0[1,0]=-3"});
  check("Divide-1", {floats({2, 2}, {1, 0, 3, 4}), floats({2}, {5, 0})}, {0, 1}, {"0[0,1]=0", "1[1]=0"});
  check("Subtract-1", {floats({3}, {1, kInf, 3}), floats({1}, {kInf})}, {1}, {"0[1]=inf", "1[0]=inf"});
  // 0 * inf somewhere in the sum, inf - inf in another.
  check("MatMul-1", {floats({2, 3}, {1, 2, 3, 4, kInf, 6}), floats({3, 2}, {1, 2, 0, 5, 6, 7})}, {1, 0},
        {"0[1,1]=inf", "1[1,0]=0"});
  check("MatMul-1", {floats({1, 3}, {kInf, 2, -kInf}), floats({3, 1}, {1, 2, 3})}, {0, 0},
        {"0[0,0]=inf", "0[0,2]=-inf"});
  check("ReduceSum-1", {floats({2, 2}, {1, kInf, -kInf, 3}), Tensor::vector({0, 1})}, {},
        {"0[0,1]=inf", "0[1,0]=-inf"});
}

TEST_CASE("an overflow is of finite operands, an infinity of any") {
  const std::vector inputs{floats({2}, {1e38F, 3e38F}), floats({2}, {1, 2})};
  const auto m = node("Multiply-1", inputs);
  const auto overflow = first(m, inputs, "overflow");
  REQUIRE(overflow);
  CHECK(overflow->at.index == Shape{1});
  CHECK(operands(*overflow) == std::vector<std::string>{"0[1]=3e+38", "1[1]=2"});

  const std::vector infinite{floats({2}, {1, kInf}), floats({2}, {1, 2})};
  CHECK(!first(m, infinite, "overflow,domain,div0"));
  const auto given = first(m, infinite, "inf");
  REQUIRE(given);
  CHECK(given->at.layer().name == "x0");
}

TEST_CASE("an infinity of several elements is not told as one of a single element") {
  const std::vector inputs{floats({2, 2}, {1, 1, 1, 1})};  // singular
  const auto event = first(node("Inverse-14", inputs, {{"adjoint", "false"}}), inputs, "inf,overflow");
  REQUIRE(event);
  CHECK(event->trap == Trap::overflow);
  CHECK(event->cause == "the result of finite operands is too large");
}

TEST_CASE("a NaN that is passed on is no event of domain") {
  const std::vector inputs{floats({2}, {kNan, 4})};
  CHECK(!first(node("Sqrt-1", inputs), inputs, "domain"));
  const std::vector both{floats({2}, {kNan, -4})};
  const auto event = first(node("Sqrt-1", both), both, "domain");
  REQUIRE(event);
  CHECK(event->at.index == Shape{1});
}

TEST_CASE("an index out of range is an event whether or not the kernel refuses it") {
  const auto table = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto check = [&](const std::string& operation, const std::vector<Tensor>& inputs, int port, const Shape& index,
                         const spec::AttributeTexts& attributes = {}) {
    INFO(operation);
    const auto event = first(node(operation, inputs, attributes), inputs, "oob");
    REQUIRE(event);
    CHECK(event->trap == Trap::oob);
    CHECK(event->input);
    CHECK(event->at.port == port);
    CHECK(event->at.index == index);
  };
  SECTION("Gather gives zeros") { check("Gather-8", {table, Tensor::vector({0, 3}), Tensor::scalar(0)}, 1, {1}); }
  SECTION("GatherND refuses") {
    check("GatherND-8", {table, Tensor::of<i64>(ElementType::i64, {2, 2}, std::vector<i64>{0, 1, 2, -3})}, 1, {1, 1});
  }
  SECTION("ScatterUpdate refuses") {
    check("ScatterUpdate-3", {table, Tensor::vector({1, 7}), floats({2, 2}, {1, 1, 1, 1}), Tensor::scalar(0)}, 1, {1});
    const std::vector inputs{table, Tensor::vector({1, -1}), floats({2, 2}, {1, 1, 1, 1}), Tensor::scalar(0)};
    CHECK(first(node("ScatterUpdate-3", inputs), inputs, "oob"));
    const auto c = node("ScatterUpdate-3", inputs).check();
    CHECK_THROWS_AS(compile(c.model, c.facts).run(inputs), Failure);
  }
  SECTION("the last index and the first negative one are in range") {
    const std::vector inputs{table, Tensor::vector({-3, 2}), Tensor::scalar(0)};
    CHECK(!first(node("Gather-8", inputs), inputs, "oob"));
  }
}

TEST_CASE("an element is followed back through layers that move it") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {2, 3});
  const auto transposed =
      m.graph.add("transposed", "Transpose-1", {x, m.graph.constant("order", Tensor::vector({1, 0}))});
  const auto joined = m.graph.add("joined", "Concat-1", {m.graph.constant("front", floats({1, 2}, {7, 8})), transposed},
                                  {{"axis", "0"}});
  m.graph.result("y", m.graph.add("sum", "Subtract-1", {joined, joined}));
  const auto event = first(m, {floats({2, 3}, {1, 2, 3, 4, 5, kInf})}, "nan");
  REQUIRE(event);
  CHECK(event->at.layer().name == "sum");
  CHECK(event->at.index == Shape{3, 1});
  std::vector<std::string> places;
  for (const auto& step : event->origin) places.push_back(step.at.layer().name + to_string(step.at.index));
  CHECK(places == std::vector<std::string>{"joined[3,1]", "transposed[2,1]", "x[1,2]"});
}

TEST_CASE("integers: a divisor of 0, a cast that does not fit, a sum that wraps") {
  const auto ints = [](const std::vector<std::int32_t>& v) {
    return Tensor::of<std::int32_t>(ElementType::i32, {std::ssize(v)}, v);
  };
  std::vector inputs{ints({6, 5}), ints({2, 0})};
  const auto divided = first(node("Divide-1", inputs), inputs, "div0");
  REQUIRE(divided);
  CHECK(divided->at.index == Shape{1});
  inputs = {ints({1, 2'000'000'000}), ints({2, 2'000'000'000})};
  const auto wrapped = first(node("Add-1", inputs), inputs, "overflow");
  REQUIRE(wrapped);
  CHECK(operands(*wrapped) == std::vector<std::string>{"0[1]=2000000000", "1[1]=2000000000"});
  inputs = {floats({3}, {127, -128, 128})};
  const auto cast = first(node("Convert-1", inputs, {{"destination_type", "i8"}}), inputs, "overflow");
  REQUIRE(cast);
  CHECK(cast->at.index == Shape{2});
}

TEST_CASE("a cast goes beyond the type that the model has, whatever values are kept in") {
  const std::vector inputs{floats({2}, {1, -1e6F}), floats({3, 1}, {1, 1, 1})};
  const auto cast = node("Convert-1", {inputs[0]}, {{"destination_type", "f16"}});
  SmallModel like;
  const auto x = like.graph.parameter("x", ElementType::f32, {2});
  const auto y = like.graph.parameter("y", ElementType::f32, {3, 1});
  const auto half = like.graph.add("half", "Convert-1", {y}, {{"destination_type", "f16"}});
  like.graph.result("z", like.graph.add("node", "ConvertLike-1", {x, half}));
  for (const auto* trap : {"inf", "overflow"}) {
    for (const auto& event : {first(cast, {inputs[0]}, trap), first(like, inputs, trap)}) {
      REQUIRE(event);
      CHECK(event->at.layer().name == "node");
      CHECK(event->cause == "-1000000 is beyond the largest f16, 65504");
      CHECK(operands(*event) == std::vector<std::string>{"0[1]=-1000000"});
    }
  }
  CHECK(!first(like, inputs, "uninit"));
}

TEST_CASE("f16 weights that a kernel widens itself are operands in f32") {
  constexpr i64 kRows = 200, kColumns = 100;  // more than what is widened beforehand
  const std::vector<float> values(kRows * kColumns, 0.5F);
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {1, kColumns});
  const auto w = m.graph.constant("w", convert(floats({kRows, kColumns}, values), ElementType::f16));
  const auto wide = m.graph.add("wide", "Convert-1", {w}, {{"destination_type", "f32"}});
  m.graph.result("y", m.graph.add("node", "MatMul-1", {x, wide}, {{"transpose_b", "true"}}));
  std::vector<float> given(kColumns, 1);
  CHECK(!first(m, {floats({1, kColumns}, given)}, "uninit"));
  given[3] = kInf;
  given[5] = -kInf;
  const auto event = first(m, {floats({1, kColumns}, given)}, "nan");
  REQUIRE(event);
  CHECK(event->cause == "inf - inf");
  CHECK(operands(*event) == std::vector<std::string>{"0[0,3]=inf", "0[0,5]=-inf"});
}

TEST_CASE("values beyond f16 and bf16") {
  const std::vector inputs{floats({4}, {65504, 65519, -65520, 3.4e38F})};
  const auto m = node("Relu-1", inputs);
  const auto f16 = first(m, inputs, "f16");
  REQUIRE(f16);
  CHECK(f16->at.index == Shape{2});
  const auto bf16 = first(m, inputs, "bf16");
  REQUIRE(bf16);
  CHECK(bf16->at.index == Shape{3});
}

TEST_CASE("without an event the results are those of the run, in each tier and precision") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {2, 2});
  m.graph.result("y", m.graph.add("node", "MatMul-1", {x, m.graph.constant("w", floats({2, 2}, {1, 2, 3, 4}))}));
  const auto c = m.check();
  for (const auto tier : {Tier::reference, Tier::fast}) {
    auto session = compile(c.model, c.facts, tools::trap_options({.tier = tier}));
    std::vector<Tensor> results;
    const std::vector inputs{floats({2, 2}, {1, 0, 0, 1})};
    CHECK(!tools::first_trap(session, inputs, tools::parse_traps("nan,inf,oob,div0,overflow,domain,f16,bf16,uninit"),
                             &results));
    REQUIRE(results.size() == 1);
    CHECK(to_f64(results[0]) == std::vector<double>{1, 2, 3, 4});
  }
}

TEST_CASE("an event leaves the states as they were") {
  const spec::AttributeTexts variable{{"variable_id", "v"}, {"variable_type", "f32"}, {"variable_shape", "1"}};
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {1});
  const auto held = m.graph.add("held", "ReadValue-6", {m.graph.constant("zero", floats({1}, {0}))}, variable);
  const auto sum = m.graph.add("sum", "Add-1", {held, x});
  m.graph.sink("keep", "Assign-6", sum, variable);
  m.graph.result("y", m.graph.add("root", "Sqrt-1", {sum}));
  const auto c = m.check();
  auto session = compile(c.model, c.facts, tools::trap_options());
  const auto traps = tools::parse_traps("nan");
  CHECK(!tools::first_trap(session, std::vector{floats({1}, {4})}, traps));
  CHECK(tools::first_trap(session, std::vector{floats({1}, {-9})}, traps));
  CHECK(to_f64(session.state("v")) == std::vector<double>{4});
}

TEST_CASE("a state that is read before it has a value") {
  const spec::AttributeTexts variable{{"variable_id", "v"}, {"variable_type", "f32"}, {"variable_shape", "1"}};
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {1});
  const auto held = m.graph.add("held", "ReadValue-6", {}, variable);
  const auto sum = m.graph.add("sum", "Add-1", {held, x});
  m.graph.sink("keep", "Assign-6", sum, variable);
  m.graph.result("y", sum);
  const auto c = m.check();
  auto session = compile(c.model, c.facts, tools::trap_options());
  const auto traps = tools::parse_traps("uninit");
  const std::vector inputs{floats({1}, {1})};
  const auto event = tools::first_trap(session, inputs, traps);
  REQUIRE(event);
  CHECK(event->at.layer().name == "held");
  session.set_state("v", floats({1}, {2}));
  CHECK(!tools::first_trap(session, inputs, traps));
}

TEST_CASE("a list of traps must hold known names") {
  CHECK(tools::parse_traps(" nan , OOB").has(Trap::oob));
  CHECK(!tools::parse_traps("nan").has(Trap::inf));
  CHECK_THROWS_AS(tools::parse_traps(""), std::invalid_argument);
  CHECK_THROWS_AS(tools::parse_traps("nan,oops"), std::invalid_argument);
}
