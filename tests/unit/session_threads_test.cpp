// Sessions and threads: one session a thread, a session that changes its thread, one model in all of them.
#include <atomic>
#include <thread>

#include "catch.hpp"
#include "harness/ways.hpp"
#include "small_model.hpp"

using namespace ovir;
using testing::kWays;

namespace {

/// Convolutions, poolings, a product and a Softmax on a recurring size, with a state beside them.
Checked network() {
  SmallModel m;
  const spec::AttributeTexts variable{{"variable_id", "v"}, {"variable_type", "f32"}, {"variable_shape", "1,10"}};
  const auto weights = [&](Shape shape) {
    std::vector<float> values(static_cast<std::size_t>(shape.count()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 31 % 101) / 101.0F - 0.5F;
    return m.graph.constant("w", floats(std::move(shape), values));
  };
  const auto x = m.graph.parameter("x", ElementType::f32, {1, 3, 32, 32});
  const spec::AttributeTexts windows{
      {"strides", "1,1"}, {"dilations", "1,1"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}, {"auto_pad", "explicit"}};
  auto y = m.graph.add("conv1", "Convolution-1", {x, weights({16, 3, 3, 3})}, windows);
  y = m.graph.add("bias", "Add-1", {y, weights({1, 16, 1, 1})});
  y = m.graph.add("relu", "Relu-1", {y});
  y = m.graph.add("conv2", "Convolution-1", {y, weights({16, 16, 3, 3})}, windows);
  y = m.graph.add("pool", "ReduceMean-1", {y, m.graph.constant("axes", Tensor::vector({2, 3}))},
                  {{"keep_dims", "false"}});
  y = m.graph.add("product", "MatMul-1", {y, weights({16, 10})});
  const auto held = m.graph.add("held", "ReadValue-6", {weights({1, 10})}, variable);
  y = m.graph.add("sum", "Add-1", {y, held});
  m.graph.sink("keep", "Assign-6", y, variable);
  m.graph.result("r", m.graph.add("softmax", "Softmax-8", {y}, {{"axis", "1"}}));
  auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  return c;
}

constexpr int kRuns = 12;
/// What a session gives for kRuns different inputs, from its first state on.
std::vector<std::vector<Tensor>> all_runs(const Checked& c, Session& session) {
  std::vector<std::vector<Tensor>> results;
  for (int i = 0; i < kRuns; ++i) results.push_back(session.run(some_inputs(c, i)));
  return results;
}

int differing(const std::vector<std::vector<Tensor>>& a, const std::vector<std::vector<Tensor>>& b) {
  int count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += same_bits(a[i], b[i]) ? 0 : 1;
  return count;
}

}  // namespace

TEST_CASE("each thread compiles and runs its own session") {
  const auto c = network();
  for (const auto& way : kWays) {
    auto alone = testing::open(c.model, c.facts, way);
    const auto expected = all_runs(c, alone);
    std::atomic<int> wrong = 0;
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
          auto session = testing::open(c.model, c.facts, way);
          wrong += differing(all_runs(c, session), expected);
        });
    }
    INFO(way.name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("models are read, checked and compiled in several threads") {
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 5; ++i) {
          const auto c = check_model(OVIR_SAMPLES "/digits/digits.xml");
          if (!c.model || c.diagnostics.errors() > 0) {
            ++wrong;
            continue;
          }
          const auto results = testing::open(c.model, c.facts, testing::kOnce).run(some_inputs(c, i));
          wrong += results.size() == 1 ? 0 : 1;
        }
      });
  }
  CHECK(wrong == 0);
}

TEST_CASE("a session moves between threads") {
  const auto c = network();
  for (const auto& way : kWays) {
    auto alone = testing::open(c.model, c.facts, way);
    const auto expected = all_runs(c, alone);
    auto session = testing::open(c.model, c.facts, way);
    std::atomic<int> wrong = 0;
    for (int i = 0; i < kRuns; ++i) {
      const auto one = [&] {
        const auto results = session.run(some_inputs(c, i));
        wrong += same_bits(results, expected[static_cast<std::size_t>(i)]) ? 0 : 1;
      };
      if (i % 3 == 0) one();
      else std::jthread(one).join();
    }
    INFO(way.name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("a session is made in one thread, run in another and dies in a third") {
  const auto c = network();
  for (const auto& way : kWays) {
    std::optional<Session> session;
    std::vector<Tensor> results;
    std::jthread([&] { session.emplace(testing::open(c.model, c.facts, way)); }).join();
    std::jthread([&] { results = session->run(some_inputs(c)); }).join();
    std::jthread([&] { session.reset(); }).join();
    CHECK(same_bits(results, testing::open(c.model, c.facts, way).run(some_inputs(c))));
  }
}
