// Small steps that compute row by row run at the same time: the same bits as one after the other.
#include <array>

#include "catch.hpp"
#include "exec/sized.hpp"
#include "fast/patterns.hpp"
#include "pattern_examples.hpp"

using namespace ovir;
using testing::Net;

namespace {

int product(Net& n, int x, const Shape& weights) { return n.op("MatMul-1", {x, n.weights(weights)}); }

int normalized(Net& n, int x) {
  return n.op("MVN-6", {x, n.indices({-1})},
              {{"normalize_variance", "true"}, {"eps", "1e-5"}, {"eps_mode", "inside_sqrt"}});
}

/// As an encoder has it: rows that grow wider and narrower, values that are read twice, a view between. Of `width`
/// columns: with few of them one thread takes all rows.
void encoder(Net& n, i64 width) {
  const auto x = n.input({2, 17, width});
  const auto a = normalized(n, product(n, x, {width, width}));
  const auto wide = n.op("Relu-1", {product(n, a, {width, 3 * width - 2})});
  const auto b = normalized(n, n.op("Add-1", {product(n, wide, {3 * width - 2, width}), a}));
  const auto flat = n.op("Reshape-1", {b, n.indices({34, width})}, {{"special_zero", "false"}});
  n.result(product(n, flat, {width, 40}));
  n.result(n.op("Softmax-8", {product(n, b, {width, 33})}, {{"axis", "-1"}}));
}

Options options_of(int threads, Precision precision, std::vector<std::string> without = {}) {
  Options options;
  options.precision = precision;
  options.expected_runs = 100;
  options.without = std::move(without);
  options.runtime.threads = threads;
  return options;
}

}  // namespace

TEST_CASE("steps that compute row by row run at the same time, with the same bits") {
  for (const i64 width : {24, 104}) {
    Net net(ElementType::f32, false);
    encoder(net, width);
    const auto c = net.model.check();
    REQUIRE(c.diagnostics.errors() == 0);
    for (const auto precision : {Precision::f32, Precision::bf16}) {
      auto apart = compile(c.model, c.facts, options_of(2, precision, {"rows"}));
      for (const int threads : {1, 2, 3, 16}) {
        auto joined = compile(c.model, c.facts, options_of(threads, precision));
        for (int seed = 0; seed < 3; ++seed) {
          const auto inputs = some_inputs(c, seed);
          CHECK(same_bits(joined.run(inputs), apart.run(inputs)));
        }
      }
    }
  }
}

TEST_CASE("values of steps that run at the same time share no bytes but row by row") {
  Net net(ElementType::f32, false);
  encoder(net, 104);
  auto c = net.model.check();
  PlanOptions options{.expected_runs = 100};
  options.patterns = fast::patterns_for(options);
  const auto made = make_plan(c.model, std::make_shared<const Facts>(std::move(c.facts)), options);
  std::vector<std::optional<Shape>> shapes;
  for (const auto& value : made->values) shapes.emplace_back(value.shape.to_shape());
  RuntimeOptions two;
  two.threads = 2;
  Runtime runtime(two);
  const Sized sized(*made, shapes, runtime);
  const auto& steps = sized.steps;
  const auto begin = std::find_if(steps.begin(), steps.end(), [](const SizedStep& s) { return s.rows == 34; });
  REQUIRE(begin != steps.end());
  CHECK(begin->parts == 2);
  REQUIRE(begin->end - begin->first >= 6);
  for (int s = begin->first; s < begin->end; ++s)
    for (int t = begin->first; t < s; ++t) {
      if (steps[s].how != How::kernel || steps[t].how != How::kernel) continue;
      const auto &a = steps[s].out[0], &b = steps[t].out[0];
      const auto* from = a.data;
      const auto* other = b.data;
      if (!from || !other || (from == other && a.size() == b.size())) continue;
      const auto bytes = [](const View& v) { return v.size() * i64{sizeof(float)}; };
      CHECK((from + bytes(a) <= other || other + bytes(b) <= from));
    }
}
