// The estimate of elementary steps, and budgets of them.
#include "op/work.hpp"

#include <limits>

#include "catch.hpp"
#include "exec/planned_work.hpp"
#include "small_model.hpp"

using namespace ovir;

namespace {

/// The planned steps of one operation on Parameters of these shapes, on the reference tier.
i64 planned(const std::string& operation, const std::vector<Shape>& shapes,
            const spec::AttributeTexts& attributes = {}) {
  SmallModel m;
  std::vector<int> ids;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    ids.push_back(m.graph.parameter(fmt::format("x{}", i), ElementType::f32, PartialShape(shapes[i])));
  m.graph.result("y", m.graph.add("node", operation, ids, attributes));
  const auto c = m.check();
  CHECK(c.diagnostics.all().empty());
  return planned_work(*plan(c.model, c.facts, {.tier = Tier::reference})).steps;
}

spec::AttributeTexts window(i64 kernel) {
  const auto both = fmt::format("{0},{0}", kernel);
  return {{"strides", "1,1"}, {"pads_begin", "0,0"},   {"pads_end", "0,0"},
          {"kernel", both},   {"exclude-pad", "true"}, {"rounding_type", "floor"}};
}

}  // namespace

TEST_CASE("work: what grows faster than inputs and outputs") {
  // Every output element takes a row and a column, a filter, a window.
  const auto product = planned("MatMul-1", {{100, 1000}, {1000, 100}});
  CHECK(product >= 100 * 100 * 1000);
  CHECK(product < 2 * 100 * 100 * 1000);
  const auto pool = planned("AvgPool-1", {{1, 1, 200, 200}}, window(101));
  CHECK(pool >= 100 * 100 * 101 * 101);
  CHECK(pool < 2 * 100 * 100 * 101 * 101);
  // 26 labels of length 2: each element is found label by label.
  const std::string letters = "abcdefghijklmnopqrstuvwxyz";
  CHECK(planned("Einsum-7", {Shape(26, 2)},
                {{"equation", letters + "->" + std::string(letters.rbegin(), letters.rend())}}) >= 26 * (i64{1} << 26));
  // The operands of a chain are taken one by one: not all labels at once.
  CHECK(planned("Einsum-7", {{1, 500}, {500, 500}, {500, 500}}, {{"equation", "ab,bc,cd->ad"}}) < 25'000'000);
  CHECK(planned("Relu-1", {{100}}) < 10'000);
}

TEST_CASE("work: absurd shapes saturate") {
  constexpr i64 kMany = i64{1} << 31;
  CHECK(planned("MatMul-1", {{kMany, kMany - 1}, {kMany - 1, kMany}}) == std::numeric_limits<i64>::max());
}

TEST_CASE("work: a budget is for its scope, and takes nothing that it does not have") {
  WorkBudget outer(100), inner(10);
  const WorkBudget::Scope a(outer);
  spend(60);
  {
    const WorkBudget::Scope b(inner);
    spend(10);
    CHECK_THROWS_AS(spend(1), OverWork);
  }
  CHECK_THROWS_AS(spend(41), OverWork);
  spend(40);
  CHECK_THROWS_AS(spend(std::numeric_limits<i64>::max()), OverWork);
}

TEST_CASE("work: what a kernel finds in its data counts while it runs") {
  // A transform of a prime length is a sum of as many products for each element.
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {10007, 2});
  m.graph.result("y", m.graph.add("dft", "DFT-7", {x, m.graph.constant("axes", Tensor::vector({0}))}));
  const auto c = m.check();
  const auto run = [&](i64 work) {
    auto session = compile(c.model, c.facts, {.runtime = {.threads = 0, .memory = 0, .time = {}, .work = work}});
    return session.run(some_inputs(c));
  };
  CHECK_THROWS_AS(run(100'000'000), Failure);
  CHECK(run(1'000'000'000).size() == 1);
}

TEST_CASE("work: no limit is near for a model of usual size") {
  // 7 billion weights of 4 bits, 2048 tokens; a super-resolution net of 80 kB on an image of 1080p given as f32.
  CHECK(default_work_limit(3'500'000'000) > i64{7'000'000'000} * 2048);
  CHECK(default_work_limit(80'000 + 1080 * 1920 * 3 * 4) > i64{20'000} * 1080 * 1920);
}
