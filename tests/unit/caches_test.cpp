// States that grow in place: the same results and states as by copying, whatever happens between and in runs.
#include <algorithm>
#include <functional>
#include <thread>

#include "catch.hpp"
#include "exec/profiler.hpp"
#include "small_model.hpp"

using namespace ovir;

namespace {

constexpr i64 kHeads = 2, kDepth = 4;

/// Attention over all tokens so far, whose order of sequences may change; the result has another shape.
SmallModel decoder() {
  SmallModel m;
  auto& g = m.graph;
  const PartialShape rows{Dim(), kHeads, Dim(), kDepth};
  const auto q = g.parameter("q", ElementType::f32, rows), k = g.parameter("k", ElementType::f32, rows),
             v = g.parameter("v", ElementType::f32, rows);
  const auto order = g.parameter("order", ElementType::i32, {Dim()});
  const auto shape = g.parameter("shape", ElementType::i64, {1});
  const auto zero = g.constant("zero", Tensor::scalar(0));
  const auto grown = [&](const std::string& name, int x) {
    const spec::AttributeTexts variable{{"variable_id", name}, {"variable_type", "f32"}, {"variable_shape", "?,2,?,4"}};
    const auto first = g.constant(name + "/first", Tensor(ElementType::f32, {1, kHeads, 0, kDepth}));
    const auto held = g.add(name + "/held", "ReadValue-6", {first}, variable);
    const auto past = g.add(name + "/past", "Gather-8", {held, order, zero}, {{"batch_dims", "0"}});
    const auto all = g.add(name + "/all", "Concat-1", {past, x}, {{"axis", "-2"}});
    g.sink(name + "/keep", "Assign-6", all, variable);
    return all;
  };
  const auto keys = grown("keys", k), values = grown("values", v);
  const auto y = g.add("y", "ScaledDotProductAttention-13", {q, keys, values}, {{"causal", "false"}});
  g.result("length_of_keys", g.add("length", "ShapeOf-3", {keys}, {{"output_type", "i64"}}));
  g.result("z", g.add("z", "Reshape-1", {y, shape}, {{"special_zero", "true"}}));
  return m;
}

Tensor some(i64 batch, i64 rows, int seed) {
  const Shape shape{batch, kHeads, rows, kDepth};
  std::vector<float> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 37 + static_cast<std::size_t>(seed) * 53) % 101) / 50.0F - 1;
  return floats(shape, values);
}
Tensor numbers(const std::vector<std::int32_t>& values) {
  return Tensor::of<std::int32_t>(ElementType::i32, {std::ssize(values)}, values);
}
std::vector<Tensor> inputs(const std::vector<std::int32_t>& order, i64 rows, int seed, i64 length = -1) {
  const auto batch = std::ssize(order);
  return {some(batch, rows, seed), some(batch, rows, seed + 1), some(batch, rows, seed + 2), numbers(order),
          Tensor::vector({length})};
}

struct Watcher final : Observer {
  bool stop = false;
  std::vector<double> keys;
  Verdict after(Event& event) override {
    if (event.node.layer->name == "keys/all") keys = to_f64(event.outputs[0]);
    return stop && event.node.layer->name == "z" ? Verdict::stop : Verdict::go_on;
  }
};

/// One session that grows states in place and one that copies them, to which the same happens.
struct Pair {
  Checked c;
  std::vector<std::shared_ptr<const Plan>> plans;
  std::vector<Session> sessions;

  explicit Pair(i64 runs = 100) : Pair(decoder(), 8, {.expected_runs = runs}) {}
  /// `marked`: how many steps are.
  Pair(const SmallModel& model, int marked, Options options = {.expected_runs = 100}) : c(model.check()) {
    for (const auto& d : c.diagnostics.all()) INFO(d.message);
    REQUIRE(c.diagnostics.errors() == 0);
    const auto runtime = std::make_shared<Runtime>(options.runtime);
    for (const bool in_place : {true, false}) {
      options.without = in_place ? std::vector<std::string>{} : std::vector<std::string>{"caches"};
      plans.push_back(ovir::plan(c.model, c.facts, options));
      CHECK(count_marked(*plans.back()) == (in_place ? marked : 0));
      sessions.emplace_back(runtime, plans.back());
    }
  }
  static i64 count_marked(const Plan& plan) {
    i64 count = 0;
    for (const auto& step : plan.steps) {
      count += step.caching != Caching::none;
      for (const auto& body : step.bodies) count += count_marked(*body);
    }
    return count;
  }
  void compare_states() const {
    for (const auto& variable : sessions[0].variables()) {
      const auto a = sessions[0].state(variable.id), b = sessions[1].state(variable.id);
      REQUIRE(static_cast<bool>(a) == static_cast<bool>(b));
      if (!a) continue;
      CHECK(a.shape() == b.shape());
      CHECK(to_f64(a) == to_f64(b));
    }
  }
  void run(const std::vector<Tensor>& given) {
    const auto a = sessions[0].run(given), b = sessions[1].run(given);
    REQUIRE(a.size() == b.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
      CHECK(a[k].shape() == b[k].shape());
      CHECK(to_f64(a[k]) == to_f64(b[k]));
    }
  }
  void set(const std::string& variable, const Tensor& value) {
    for (auto& s : sessions) s.set_state(variable, value);
  }
  /// What both refuse.
  void refuse(const std::vector<Tensor>& given) {
    for (auto& s : sessions) CHECK_THROWS_AS(s.run(given), Failure);
    compare_states();
  }
};

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

/// Reads every value and, when told so, ends the run behind a layer.
struct Meddler final : Profiler {
  Runtime* runtime = nullptr;
  std::string behind;
  std::size_t sum = 0;
  void after(const StepTime& t) override {
    for (const auto id : t.step.outputs)
      for (std::size_t i = 0; i < t.values[id].byte_size(); ++i)
        sum += std::to_integer<std::size_t>(t.values[id].bytes()[i]);
    if (t.plan.node(t.step).layer->name == behind) runtime->stop();
  }
};

}  // namespace

TEST_CASE("states that grow in place: token by token, far beyond the first room") {
  Pair p;
  p.compare_states();
  p.run(inputs({0}, 5, 1));
  for (int i = 0; i < 120; ++i) p.run(inputs({0}, 1 + i % 3, 10 + i));
  p.compare_states();
  CHECK(p.sessions[0].state("keys").shape() == Shape{1, kHeads, 5 + 240, kDepth});
  Pair once(1);
  for (int i = 0; i < 4; ++i) once.run(inputs({0}, 2, i));
  once.compare_states();
}

TEST_CASE("states that grow in place: other lengths again and again, as they were before") {
  Pair p;
  for (int round = 0; round < 4; ++round) {  // shapes that come again are planned beforehand
    for (auto& s : p.sessions) s.reset_states();
    p.compare_states();
    for (int i = 0; i < 6; ++i) p.run(inputs({0}, i == 0 ? 7 : 1, i + 100 * round));
    p.compare_states();
  }
}

TEST_CASE("states that grow in place: read and set between runs") {
  Pair p;
  for (int i = 0; i < 3; ++i) p.run(inputs({0}, 2, i));
  auto kept = p.sessions[0].state("keys");
  const auto before = to_f64(kept);
  p.run(inputs({0}, 1, 7));
  CHECK(to_f64(kept) == before);  // a copy
  std::fill_n(kept.mutable_data<float>(), kept.size(), 99.0F);
  p.compare_states();
  for (auto& s : p.sessions) {
    s.set_state("keys", some(1, 4, 3));
    s.set_state("values", some(1, 4, 4));
  }
  p.compare_states();
  for (int i = 0; i < 3; ++i) p.run(inputs({0}, 1, 20 + i));
  p.compare_states();
  for (auto& s : p.sessions) s.set_state("keys", some(1, 7, 5));  // one of two
  p.run(inputs({0}, 1, 30));
  p.compare_states();
}

TEST_CASE("states that grow in place: sequences in another order") {
  Pair p;
  for (auto& s : p.sessions)
    for (const auto* name : {"keys", "values"}) s.set_state(name, some(2, 3, 9));
  p.run(inputs({0, 1}, 1, 1));
  p.run(inputs({0, 1}, 1, 2));
  p.run(inputs({1, 0}, 1, 3));
  p.run(inputs({0, 1}, 1, 4));
  p.run(inputs({1, 1}, 2, 5));
  p.compare_states();
  p.run(inputs({0}, 1, 6));        // one of them ends
  p.run(inputs({0, 0, 0}, 1, 7));  // and becomes three
  p.run(inputs({0, 1, 2}, 1, 8));
  p.run(inputs({2, 3, 0}, 1, 9));  // no such sequence: zeros
  p.compare_states();
}

TEST_CASE("states that grow in place: a run that fails or is stopped leaves them as they were") {
  Pair p;
  for (int i = 0; i < 3; ++i) p.run(inputs({0}, 2, i));
  for (int round = 0; round < 3; ++round) {
    const auto keys = to_f64(p.sessions[0].state("keys"));
    for (auto& s : p.sessions) {
      CHECK_THROWS_AS(s.run(inputs({0}, 1, 50 + round, 9)), Failure);  // behind the attention
      CHECK_THROWS_AS(s.run(inputs({0}, 40, 50, 99)), Failure);        // which needed more room
      Watcher watcher;
      watcher.stop = true;
      s.run(inputs({0}, 1, 60), &watcher);
      CHECK(s.stopped());
    }
    CHECK(to_f64(p.sessions[0].state("keys")) == keys);
    p.compare_states();
    p.run(inputs({0}, 1, 70 + round));
    p.compare_states();
  }
  // What cannot be joined is refused as ever: two sequences behind one.
  auto wrong = inputs({0}, 1, 1);
  wrong[1] = some(2, 1, 1);
  for (auto& s : p.sessions) CHECK_THROWS_AS(s.run(wrong), Failure);
  p.run(inputs({0}, 1, 80));
  p.compare_states();
}

TEST_CASE("states that grow in place: an observer sees them as their shapes say") {
  Pair p;
  for (int i = 0; i < 5; ++i) {
    p.run(inputs({0}, 2, i));
    Watcher a, b;
    p.sessions[0].run(inputs({0}, 1, 30 + i), &a);
    p.sessions[1].run(inputs({0}, 1, 30 + i), &b);
    CHECK(a.keys == b.keys);
    CHECK(a.keys == to_f64(p.sessions[0].state("keys")));
    p.compare_states();
  }
}

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

TEST_CASE("states that grow in place: no rows at all") {
  Pair p;
  p.run(inputs({0}, 0, 1));
  p.run(inputs({0}, 0, 2));
  p.run(inputs({0}, 3, 3));
  p.run(inputs({0}, 0, 4));
  p.compare_states();
  for (int i = 0; i < 5; ++i) p.run(inputs({0}, 1, i));
  p.run(inputs({}, 1, 5));  // nor sequences
  p.compare_states();
  p.run(inputs({}, 2, 6));
  p.compare_states();
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

TEST_CASE("states that grow in place: given from session to session, which go on by themselves") {
  Pair p, other;
  for (int i = 0; i < 3; ++i) p.run(inputs({0}, 2, i));
  for (const auto* name : {"keys", "values"}) other.set(name, p.sessions[0].state(name));
  for (int i = 0; i < 40; ++i) {
    p.run(inputs({0}, 1, i));
    other.run(inputs({0}, 2, 50 + i));
  }
  p.compare_states();
  other.compare_states();
  CHECK(p.sessions[0].state("keys").dim(2) == 46);
  CHECK(other.sessions[0].state("keys").dim(2) == 86);
  auto moved = std::move(p.sessions[0]);
  p.sessions[0] = std::move(moved);
  p.run(inputs({0}, 1, 3));
  p.compare_states();
}

TEST_CASE("states that grow in place: one plan in several threads") {
  const Pair p;
  const auto runtime = std::make_shared<Runtime>();
  const auto values_of = [&](const std::shared_ptr<const Plan>& plan, int seed) {
    Session session(runtime, plan);
    std::vector<std::vector<double>> values;
    for (int i = 0; i < 60; ++i) values.push_back(to_f64(session.run(inputs({0}, 1 + i % 2, seed + i))[1]));
    values.push_back(to_f64(session.state("keys")));
    return values;
  };
  std::vector<std::vector<std::vector<double>>> found(4);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back([&, t] { found[t] = values_of(p.plans[0], 100 * t); });
  }
  for (int t = 0; t < 4; ++t) CHECK(found[t] == values_of(p.plans[1], 100 * t));
}

TEST_CASE("states that grow in place: memory that is short") {
  Options options{.expected_runs = 100};
  options.runtime.memory = 1 << 18;
  Pair p(decoder(), 8, options);
  for (int i = 0; i < 3; ++i) p.run(inputs({0}, 4, i));
  int refused = 0;
  for (int i = 0; i < 40; ++i) {
    auto& session = p.sessions[0];
    const auto before = session.state("keys");
    try {
      session.run(inputs({0}, 200, i));
    } catch (const Failure& failure) {
      CHECK(failure.diagnostic.code == Code::E0003);
      CHECK(to_f64(session.state("keys")) == to_f64(before));
      ++refused;
    }
  }
  CHECK(refused > 0);
  p.set("keys", some(1, 3, 1));
  p.set("values", some(1, 3, 2));
  p.run(inputs({0}, 2, 3));
  p.compare_states();
}

TEST_CASE("states that grow in place: stopped behind any layer") {
  Pair p;
  const auto runtime = std::make_shared<Runtime>();
  Session session(runtime, p.plans[0]);
  Meddler meddler;
  meddler.runtime = runtime.get();
  session.set_profiler(&meddler);
  std::swap(p.sessions[0], session);
  for (int i = 0; i < 3; ++i) p.run(inputs({0}, 2, i));
  for (const auto* behind : {"keys/held", "keys/past", "keys/all", "keys/keep", "values/all", "values/keep", "y"}) {
    for (const i64 rows : {1, 50}) {
      meddler.behind = behind;
      CHECK_THROWS_AS(p.sessions[0].run(inputs({0}, rows, 7)), Failure);
      meddler.behind.clear();
      runtime->resume();
      p.compare_states();
      p.run(inputs({0}, 1, 8));
      p.compare_states();
    }
  }
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
