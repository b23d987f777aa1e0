// Where values lie in the arena: in place, in one another, and never two that are needed together.
#include "exec/placement.hpp"

#include <array>
#include <cmath>

#include "catch.hpp"
#include "exec/sized.hpp"
#include "fast/patterns.hpp"
#include "small_model.hpp"

using namespace ovir;

namespace {

/// A plan for many runs, and where the values of its steps lie.
struct Placed {
  std::shared_ptr<const Plan> plan;
  Runtime runtime;
  Arenas arenas;
  std::unique_ptr<Sized> sized;

  explicit Placed(const SmallModel& m) {
    auto c = m.check();
    REQUIRE(c.diagnostics.all().empty());
    PlanOptions options{.expected_runs = 100};
    options.patterns = fast::patterns_for(options);
    plan = make_plan(c.model, std::make_shared<const Facts>(std::move(c.facts)), options);
    std::vector<std::optional<Shape>> shapes;
    for (const auto& value : plan->values)
      shapes.push_back(value.shape.is_static() ? std::optional(value.shape.to_shape()) : std::nullopt);
    sized = std::make_unique<Sized>(*plan, std::move(shapes), runtime, arenas);
  }

  const std::byte* where(std::string_view layer) const {
    for (std::size_t i = 0; i < plan->model->nodes.size(); ++i)
      if (plan->model->nodes[i].layer->name == layer) return sized->tensors[plan->value_of[i][0]].bytes();
    throw std::out_of_range("there is no such layer");
  }
};

/// Softmax is a kernel of its own: chains don't take it.
int softmax(SmallModel& m, const std::string& name, int from) {
  return m.graph.add(name, "Softmax-8", {from}, {{"axis", "-1"}});
}

constexpr i64 kRow = 64;

}  // namespace

TEST_CASE("an output takes the place of an input that dies with the step") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {2, kRow});
  const auto a = softmax(m, "a", x), b = softmax(m, "b", a), c = softmax(m, "c", b);
  m.graph.result("y", c);
  const Placed placed(m);
  CHECK(placed.where("b") == placed.where("a"));
  CHECK(placed.sized->arena_bytes == 2 * kRow * sizeof(float));
}

TEST_CASE("an input that is read later keeps its place") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {2, kRow});
  const auto a = softmax(m, "a", x), b = softmax(m, "b", a);
  const auto sum = m.graph.add("sum", "Add-1", {a, b});
  m.graph.result("y", softmax(m, "c", sum));
  const Placed placed(m);
  CHECK(placed.where("b") != placed.where("a"));
}

TEST_CASE("the inputs of a Concat lie in its output, where a batch is one stretch") {
  for (const i64 batch : {1, 2}) {
    SmallModel m;
    const auto x = m.graph.parameter("x", ElementType::f32, {batch, 3, kRow});
    const auto a = softmax(m, "a", x), b = softmax(m, "b", a);
    const auto both = m.graph.add("both", "Concat-1", {a, b}, {{"axis", "1"}});
    m.graph.result("y", softmax(m, "c", both));
    const Placed placed(m);
    const bool inside = batch == 1;
    CHECK((placed.where("a") == placed.where("both")) == inside);
    CHECK((placed.where("b") == placed.where("both") + 3 * kRow * sizeof(float)) == inside);
  }
}

TEST_CASE("a value that two Concats take lies in one of them, and one that is taken twice lies there once") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {1, 3, kRow});
  const auto a = softmax(m, "a", x);
  const auto twice = m.graph.add("twice", "Concat-1", {a, a}, {{"axis", "1"}});
  const auto again = m.graph.add("again", "Concat-1", {a, twice}, {{"axis", "1"}});
  m.graph.result("y", softmax(m, "c", again));
  const Placed placed(m);
  CHECK(placed.where("a") == placed.where("twice"));
  CHECK(placed.where("twice") == placed.where("again") + 3 * kRow * sizeof(float));
}

TEST_CASE("the parts of a Split lie in its input") {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {1, 4, kRow});
  const auto a = softmax(m, "a", x);
  const auto axis = m.graph.constant("axis", Tensor::of<i64>(ElementType::i64, {}, std::array<i64, 1>{1}));
  const auto ports = spec::output_port(2, ElementType::f32) + spec::output_port(3, ElementType::f32);
  const auto parts =
      m.graph.layer("parts", "Split", "opset1", R"(<data num_splits="2"/>)", std::vector<int>{a, axis}, ports);
  m.graph.result("y", softmax(m, "b", parts));
  m.graph.result("z", parts, 3);
  const Placed placed(m);
  CHECK(placed.where("parts") == placed.where("a"));
}

TEST_CASE("a residual that is added after the activation is not written over") {
  // Every convolution takes 16 channels to 16, and each of its inputs dies with it.
  SmallModel m;
  constexpr i64 kChannels = 16, kSide = 24;
  const auto convolution = [&](const std::string& name, int from) {
    std::vector<float> weights(kChannels * kChannels);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i * 7 % 19) / 19.0F - 0.5F;
    const auto filters = m.graph.constant(name + ".weights", floats({kChannels, kChannels, 1, 1}, weights));
    return m.graph.add(name, "Convolution-1", {from, filters},
                       {{"strides", "1,1"}, {"dilations", "1,1"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}});
  };
  const auto x = m.graph.parameter("x", ElementType::f32, {1, kChannels, kSide, kSide});
  const auto residual = convolution("residual", x);
  const auto activated = m.graph.add("activated", "HSwish-4", {convolution("activating", residual)});
  const auto sum = m.graph.add("sum", "Add-1", {activated, residual}, {{"auto_broadcast", "numpy"}});
  m.graph.result("y", convolution("last", sum));

  const auto c = m.check();
  REQUIRE(c.diagnostics.all().empty());
  const auto inputs = some_inputs(c);
  const auto expected = compile(c.model, c.facts, {.tier = Tier::reference}).run(inputs);
  for (const i64 runs : {1, 100}) {
    Options options;
    options.expected_runs = runs;
    const auto got = compile(c.model, c.facts, options).run(inputs);
    const auto e = to_f64(expected[0]), g = to_f64(got[0]);
    REQUIRE(g.size() == e.size());
    double most = 0;
    for (std::size_t i = 0; i < e.size(); ++i) most = std::max(most, std::abs(g[i] - e[i]));
    CHECK(most < 1e-3);
  }
}
