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

/// With attention between, of `queries` by `keys`: the product of keys and values has rows of another number, and their
/// normalized rows are read by attention and then added to.
void decoder(Net& n, i64 queries, i64 keys, i64 heads) {
  constexpr i64 kDepth = 16;
  const auto width = heads * kDepth;
  const auto split = [&](int x, i64 rows) {
    const auto y = n.op("Reshape-1", {x, n.indices({1, rows, heads, kDepth})}, {{"special_zero", "false"}});
    return n.op("Transpose-1", {y, n.indices({0, 2, 1, 3})});
  };
  const auto attended = [&](int q, i64 from, int k, int v, i64 to) {
    const auto y =
        n.op("ScaledDotProductAttention-13", {split(q, from), split(k, to), split(v, to)}, {{"causal", "false"}});
    return n.op("Reshape-1", {n.op("Transpose-1", {y, n.indices({0, 2, 1, 3})}), n.indices({1, from, width})},
                {{"special_zero", "false"}});
  };
  const auto a = normalized(n, product(n, n.input({1, queries, width}), {width, width}));
  const auto b = normalized(n, product(n, n.input({1, keys, width}), {width, width}));
  // Keys and values are the sum to come, which lies where they do.
  const auto self = n.op("Add-1", {product(n, attended(a, queries, a, a, queries), {width, width}), a});
  const auto cross = attended(product(n, self, {width, width}), queries, b, product(n, b, {width, width}), keys);
  const auto c = n.op("Add-1", {product(n, cross, {width, width}), self});
  n.result(product(n, normalized(n, c), {width, 40}));
}

Options options_of(int threads, Precision precision, std::vector<std::string> without = {}) {
  Options options;
  options.precision = precision;
  options.expected_runs = 100;
  options.without = std::move(without);
  options.runtime.threads = threads;
  return options;
}

/// Of a model whose steps are joined, in any number of threads, and of one whose steps are not.
void check_same_bits(Net& net) {
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

}  // namespace

TEST_CASE("steps that compute row by row run at the same time, with the same bits") {
  for (const i64 width : {24, 104}) {
    Net net(ElementType::f32, false);
    encoder(net, width);
    check_same_bits(net);
  }
}

TEST_CASE("attention and rows of other numbers are joined, with the same bits") {
  struct Sizes {
    i64 queries, keys, heads;
  };
  for (const auto& [queries, keys, heads] : {Sizes{24, 24, 4}, {29, 70, 3}, {16, 13, 5}}) {
    Net net(ElementType::f32, false);
    decoder(net, queries, keys, heads);
    check_same_bits(net);
  }
}

/// A model that runs often, with its sizes, for two threads.
struct Made {
  std::shared_ptr<const Plan> plan;
  std::unique_ptr<Runtime> runtime;
  Arenas arenas;
  std::optional<Sized> sized;

  explicit Made(Net& net) {
    RuntimeOptions two;
    two.threads = 2;
    runtime = std::make_unique<Runtime>(two);
    auto c = net.model.check();
    PlanOptions options{.expected_runs = 100};
    options.patterns = fast::patterns_for(options);
    plan = make_plan(c.model, std::make_shared<const Facts>(std::move(c.facts)), options);
    std::vector<std::optional<Shape>> shapes;
    for (const auto& value : plan->values) shapes.emplace_back(value.shape.to_shape());
    sized.emplace(*plan, shapes, *runtime, arenas);
  }
};

TEST_CASE("values of steps that run at the same time share no bytes but row by row") {
  for (const bool attention : {false, true}) {
    Net net(ElementType::f32, false);
    if (attention) decoder(net, 24, 40, 4);
    else encoder(net, 104);
    const Made made(net);
    const auto& steps = made.sized->steps;
    REQUIRE(made.sized->joined.size() == 1);
    const auto& joined = made.sized->joined[0];
    CHECK(joined.parts == 2);
    CHECK(joined.end == std::ssize(steps) - !attention);  // the encoder has a Softmax behind it
    // Rows of queries, of keys, of queries again; attention; rows; attention; rows.
    CHECK(joined.phases.size() == (attention ? 8 : 1));
    for (const auto& phase : joined.phases)
      for (int s = phase.begin; s < phase.end; ++s)
        for (int t = phase.begin; t < s; ++t) {
          if (steps[s].how != How::kernel || steps[t].how != How::kernel) continue;
          const auto &a = steps[s].out[0], &b = steps[t].out[0];
          const auto* from = a.data;
          const auto* other = b.data;
          if (!from || !other || (from == other && a.size() == b.size())) continue;
          const auto bytes = [](const View& v) { return v.size() * i64{sizeof(float)}; };
          CHECK((from + bytes(a) <= other || other + bytes(b) <= from));
        }
  }
}

TEST_CASE("one thread takes what is soon done") {
  Net net(ElementType::f32, false);
  encoder(net, 24);
  const Made made(net);
  REQUIRE(made.sized->joined.size() == 1);
  CHECK(made.sized->joined[0].parts == 1);
}
