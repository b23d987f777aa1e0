// A decoder whose states grow, run in place and by copying.
#pragma once
#include <algorithm>

#include "catch.hpp"
#include "small_model.hpp"

namespace ovir::growing {

inline constexpr i64 kHeads = 2, kDepth = 4;

/// Attention over all tokens so far, whose order of sequences may change; the result has another shape.
inline SmallModel decoder() {
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

inline Tensor some(i64 batch, i64 rows, int seed) {
  const Shape shape{batch, kHeads, rows, kDepth};
  std::vector<float> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 37 + static_cast<std::size_t>(seed) * 53) % 101) / 50.0F - 1;
  return floats(shape, values);
}
inline Tensor numbers(const std::vector<std::int32_t>& values) {
  return Tensor::of<std::int32_t>(ElementType::i32, {std::ssize(values)}, values);
}
inline std::vector<Tensor> inputs(const std::vector<std::int32_t>& order, i64 rows, int seed, i64 length = -1) {
  const auto batch = std::ssize(order);
  return {some(batch, rows, seed), some(batch, rows, seed + 1), some(batch, rows, seed + 2), numbers(order),
          Tensor::vector({length})};
}

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

}  // namespace ovir::growing
