// States that grow in place: the same results and states as by copying, whatever happens between and in runs.
#include <algorithm>

#include "catch.hpp"
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
  std::vector<Session> sessions;

  explicit Pair(i64 runs = 100) : c(decoder().check()) {
    REQUIRE(c.diagnostics.errors() == 0);
    for (const auto& without : {std::vector<std::string>{}, {"caches"}}) {
      Options options;
      options.expected_runs = runs;
      options.without = without;
      const auto plan = ovir::plan(c.model, c.facts, options);
      const auto marked = std::count_if(plan->steps.begin(), plan->steps.end(),
                                        [](const Step& s) { return s.caching != Caching::none; });
      CHECK(marked == (without.empty() ? 8 : 0));
      sessions.emplace_back(std::make_shared<Runtime>(options.runtime), plan);
    }
  }
  void compare_states() const {
    for (const auto* name : {"keys", "values"}) {
      const auto a = sessions[0].state(name), b = sessions[1].state(name);
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

TEST_CASE("states that others read are copied") {
  SmallModel m;
  auto& g = m.graph;
  const spec::AttributeTexts variable{{"variable_id", "s"}, {"variable_type", "f32"}, {"variable_shape", "1,2,?,4"}};
  const auto x = g.parameter("x", ElementType::f32, {1, kHeads, Dim(), kDepth});
  const auto all = g.add("all", "Concat-1", {g.add("held", "ReadValue-6", {}, variable), x}, {{"axis", "2"}});
  g.sink("keep", "Assign-6", all, variable);
  g.result("y", g.add("y", "ScaledDotProductAttention-13", {x, all, all}, {{"causal", "false"}}));
  g.result("sum", g.add("sum", "Sigmoid-1", {all}));
  const auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  Options options;
  options.expected_runs = 100;
  const auto plan = ovir::plan(c.model, c.facts, options);
  CHECK(std::none_of(plan->steps.begin(), plan->steps.end(), [](const Step& s) { return s.caching != Caching::none; }));
}
