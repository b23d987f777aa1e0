// Which states grow in place, and the many ways in which models have them.
#include <functional>

#include "growing.hpp"

using namespace ovir;
using namespace ovir::growing;

namespace {

/// One state, which is keys and values alike, and what else is made of its layers.
struct Single : SmallModel {
  spec::AttributeTexts variable;
  int x = 0, held = 0, all = 0;

  explicit Single(const PartialShape& rows = {1, kHeads, Dim(), kDepth}, i64 axis = 2,
                  const std::string& shape = "1,2,?,4", const std::string& type = "f32")
      : variable{{"variable_id", "s"}, {"variable_type", type}, {"variable_shape", shape}} {
    x = graph.parameter("x", type == "f32" ? ElementType::f32 : ElementType::f16, rows);
    held = graph.add("held", "ReadValue-6", {}, variable);
    all = graph.add("all", "Concat-1", {held, x}, {{"axis", std::to_string(axis)}});
  }
  int keep() { return graph.add("keep", "Assign-6", {all}, variable); }
  int attention(int keys, int values) {
    const auto y = graph.add("y", "ScaledDotProductAttention-13", {x, keys, values}, {{"causal", "false"}});
    graph.result("result", y);
    return y;
  }
};

void grow(Pair& p, const std::function<Tensor(i64 rows, int seed)>& make, int runs = 40) {
  for (int i = 0; i < runs; ++i) p.run({make(i % 7 == 0 ? 9 : 1, i)});
  p.compare_states();
}
void grow(Pair& p, int runs = 40) {
  grow(
      p, [](i64 rows, int seed) { return some(1, rows, seed); }, runs);
}

}  // namespace

TEST_CASE("states that grow in place: one state as keys and values, others read its shape") {
  Single m;
  m.keep();
  m.attention(m.all, m.all);
  for (const auto id : {m.held, m.all})
    m.graph.result("shape" + std::to_string(id),
                   m.graph.add("shape of " + std::to_string(id), "ShapeOf-3", {id}, {{"output_type", "i64"}}));
  Pair p(m, 3);
  grow(p);
}

TEST_CASE("states that grow in place: f16, kept in f32") {
  Single m({1, kHeads, Dim(), kDepth}, 2, "1,2,?,4", "f16");
  m.keep();
  m.attention(m.all, m.all);
  Pair p(m, 3);
  const auto make = [](i64 rows, int seed) { return convert(some(1, rows, seed), ElementType::f16); };
  grow(p, make);
  p.set("s", make(5, 3));
  grow(p, make);
  Pair declared(m, 0, {.precision = Precision::declared, .expected_runs = 100});
  grow(declared, make);
}

TEST_CASE("states that grow in place: rows beside heads, and one head") {
  {
    Single m({1, Dim(), kHeads, kDepth}, 1, "1,?,2,4");
    m.keep();
    const auto order = m.graph.constant("order", Tensor::vector({0, 2, 1, 3}));
    const auto turned = [&](const std::string& name, int from) {
      return m.graph.add(name, "Transpose-1", {from, order});
    };
    const auto y = m.graph.add("y", "ScaledDotProductAttention-13",
                               {turned("q", m.x), turned("k", m.all), turned("v", m.all)}, {{"causal", "false"}});
    m.graph.result("result", turned("out", y));
    Pair p(m, 3);
    grow(p, [](i64 rows, int seed) { return some(1, rows, seed).reshaped({1, rows, kHeads, kDepth}); });
  }
  {
    Single m({kHeads, Dim(), kDepth}, -2, "2,?,4");
    m.keep();
    m.attention(m.all, m.all);
    Pair p(m, 3);
    grow(p, [](i64 rows, int seed) { return some(1, rows, seed).reshaped({kHeads, rows, kDepth}); });
  }
}

TEST_CASE("states that grow in place: keys as columns") {
  SmallModel m;
  auto& g = m.graph;
  const spec::AttributeTexts variable{{"variable_id", "s"}, {"variable_type", "f32"}, {"variable_shape", "1,2,4,?"}};
  const auto q = g.parameter("q", ElementType::f32, {1, kHeads, 3, kDepth}),
             k = g.parameter("k", ElementType::f32, {1, kHeads, kDepth, Dim()}),
             v = g.parameter("v", ElementType::f32, {1, kHeads, Dim(), kDepth});
  const auto all = g.add("all", "Concat-1", {g.add("held", "ReadValue-6", {}, variable), k}, {{"axis", "3"}});
  g.sink("keep", "Assign-6", all, variable);
  const auto product = [&](const std::string& name, int a, int b) {
    return g.add(name, "MatMul-1", {a, b}, {{"transpose_a", "false"}, {"transpose_b", "false"}});
  };
  g.result("y", product("y", g.add("weights", "Softmax-8", {product("scores", q, all)}, {{"axis", "-1"}}), v));
  Pair p(m, 3);
  for (i64 i = 0; i < 50; ++i)
    p.run({some(1, 3, 1), some(1, 2, 2).reshaped({1, kHeads, kDepth, 2}), some(1, 2 * i + 2, 3)});
  p.compare_states();
  p.refuse({some(1, 3, 1), some(1, 2, 2).reshaped({1, kHeads, kDepth, 2}), some(1, 7, 3)});
}

TEST_CASE("states that grow in place: a state of another rank or type is refused") {
  Single m({1, kHeads, Dim(), kDepth}, 2, "...");
  m.keep();
  m.attention(m.all, m.all);
  Pair p(m, 3);
  p.set("s", some(1, 2, 1));
  grow(p);
  p.set("s", some(1, 2, 1).reshaped({kHeads, 2, kDepth}));
  p.refuse({some(1, 1, 2)});
  p.set("s", some(2, 2, 1));
  p.refuse({some(1, 1, 2)});
  p.set("s", some(1, 4, 1).reshaped({1, kHeads, 2, 2 * kDepth}));
  p.refuse({some(1, 1, 2)});
  for (auto& s : p.sessions) CHECK_THROWS_AS(s.set_state("s", numbers({1})), Failure);
  p.set("s", some(1, 3, 1));
  grow(p);
}

TEST_CASE("states that others read are copied") {
  const auto check = [](const std::function<void(Single&)>& more) {
    Single m;
    more(m);
    Pair p(m, 0);
    grow(p, 5);
  };
  const auto usual = [](Single& m) { m.keep(), m.attention(m.all, m.all); };
  check([&](Single& m) { usual(m), m.graph.result("other", m.graph.add("other", "Sigmoid-1", {m.all})); });
  check([&](Single& m) { usual(m), m.graph.result("other", m.all); });
  check([&](Single& m) { usual(m), m.graph.result("other", m.held); });
  check([&](Single& m) { usual(m), m.graph.result("other", m.graph.add("other", "Sigmoid-1", {m.held})); });
  check([&](Single& m) {  // as queries
    m.keep();
    m.graph.result("y", m.graph.add("y", "ScaledDotProductAttention-13", {m.all, m.all, m.all}, {{"causal", "false"}}));
  });
  check([&](Single& m) {  // what Assign passes on
    const auto kept = m.keep();
    m.attention(m.all, m.all);
    m.graph.result("other", m.graph.add("other", "ShapeOf-3", {kept}, {{"output_type", "i64"}}));
  });
  check([&](Single& m) {  // another variable
    usual(m);
    const spec::AttributeTexts other{{"variable_id", "t"}, {"variable_type", "f32"}, {"variable_shape", "1,2,?,4"}};
    m.graph.result("t", m.graph.add("t", "ReadValue-6", {}, other));
    m.graph.sink("keep t", "Assign-6", m.all, other);
  });
  check([&](Single& m) {  // something else is kept
    m.graph.sink("keep", "Assign-6", m.graph.add("other", "Sigmoid-1", {m.all}), m.variable);
    m.attention(m.all, m.all);
  });
  check([&](Single& m) {  // in front
    m.all = m.graph.add("front", "Concat-1", {m.x, m.held}, {{"axis", "2"}});
    usual(m);
  });
  check([&](Single& m) {  // twice
    m.all = m.graph.add("twice", "Concat-1", {m.held, m.held, m.x}, {{"axis", "2"}});
    usual(m);
  });
}

TEST_CASE("states that grow in place: a body reads the variable, or does it all") {
  const auto truth = [](bool value) {
    return Tensor::of<std::uint8_t>(ElementType::boolean, {}, std::vector<std::uint8_t>{value});
  };
  {
    Single m;
    m.keep();
    m.attention(m.all, m.all);
    std::string bodies;
    for (const std::string name : {"then", "else"}) {
      spec::GraphText body(m.bin);
      auto value = body.add("held inside", "ReadValue-6", {}, m.variable);
      if (name == "else") value = body.add("inside", "Sigmoid-1", {value});
      const auto result = body.result("result inside", value);
      bodies += "<" + name + R"(_port_map><output external_port_id="1" internal_layer_id=")" + std::to_string(result) +
                R"("/></)" + name + "_port_map><" + name + "_body>" + body.text() + "</" + name + "_body>";
    }
    m.graph.result("inside",
                   m.graph.layer("if", "If", "opset8", "", {m.graph.parameter("which", ElementType::boolean, {})},
                                 spec::output_port(1, ElementType::f32), bodies));
    Pair p(m, 3);
    for (int i = 0; i < 20; ++i) p.run({some(1, 1 + i % 3, i), truth(i % 2 == 0)});
    p.compare_states();
  }
  {
    SmallModel m;
    spec::GraphText body(m.bin);
    const PartialShape rows{1, kHeads, Dim(), kDepth};
    const spec::AttributeTexts variable{{"variable_id", "s"}, {"variable_type", "f32"}, {"variable_shape", "1,2,?,4"}};
    const auto inner = body.parameter("x", ElementType::f32, rows);
    const auto all =
        body.add("all", "Concat-1", {body.add("held", "ReadValue-6", {}, variable), inner}, {{"axis", "2"}});
    body.sink("keep", "Assign-6", all, variable);
    const auto y = body.add("y", "ScaledDotProductAttention-13", {inner, all, all}, {{"causal", "false"}});
    const auto result = body.result("y", y), go_on = body.result("condition", body.constant("go on", truth(true)));
    const auto x = m.graph.parameter("x", ElementType::f32, rows);
    const auto loop =
        m.graph.layer("loop", "Loop", "opset5", "",
                      {m.graph.constant("count", Tensor::scalar(3)), m.graph.constant("begin", truth(true)), x},
                      spec::output_port(3, ElementType::f32),
                      R"(<port_map><input external_port_id="2" internal_layer_id=")" + std::to_string(inner) +
                          R"("/><output external_port_id="3" internal_layer_id=")" + std::to_string(result) +
                          R"("/><output external_port_id="-1" internal_layer_id=")" + std::to_string(go_on) +
                          R"(" purpose="execution_condition"/></port_map><body>)" + body.text() + "</body>");
    m.graph.result("y", loop);
    Pair p(m, 0);
    grow(p);
  }
}
