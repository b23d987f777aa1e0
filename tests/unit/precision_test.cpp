// Precision::bf16 and int8 through the whole library: which kernels fire, what is stored, how far results are from
// those of the reference tier, and that threads and observers make no difference.
#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "exec/observer.hpp"
#include "pattern_examples.hpp"

using namespace ovir;
using testing::Net;

namespace {

using Texts = spec::AttributeTexts;

Texts window(const char* stride, const char* pad) {
  return {{"strides", stride}, {"dilations", "1,1"}, {"pads_begin", pad}, {"pads_end", pad}};
}

/// Convolutions of an image, depthwise, pointwise with a residual, 3×3; pooling; a product.
void build_floats(Net& n) {
  auto x = n.op("Convolution-1", {n.input({1, 3, 24, 20}), n.weights({40, 3, 3, 3})}, window("2,2", "1,1"));
  x = n.op("Relu-1", {n.op("Add-1", {x, n.weights({1, 40, 1, 1})})});
  auto pool = window("1,1", "1,1");
  pool.emplace_back("kernel", "3,3");
  const auto pooled = n.op("MaxPool-1", {x}, pool);
  x = n.op("GroupConvolution-1", {pooled, n.weights({40, 1, 1, 3, 3})}, window("1,1", "1,1"));
  x = n.op("Convolution-1", {x, n.weights({40, 40, 1, 1})}, window("1,1", "0,0"));
  x = n.op("Add-1", {x, pooled});
  x = n.op("Convolution-1", {x, n.weights({33, 40, 3, 3})}, window("2,2", "1,1"));
  n.result(n.op("MatMul-1", {x, n.weights({5, 9})}));
}

/// FakeQuantize to 256 levels from `low` on.
int quantized(Net& n, int x, float low, float high) {
  const auto a = n.numbers({low}, {}), b = n.numbers({high}, {});
  return n.op("FakeQuantize-1", {x, a, b, a, b}, {{"levels", "256"}});
}
int weights(Net& n, const Shape& shape) {
  const auto a = n.numbers({-0.5F}, {}), b = n.numbers({0.5F}, {});
  return n.op("FakeQuantize-1", {n.weights(shape), a, b, a, b}, {{"levels", "255"}});
}

/// The same kinds of layers between FakeQuantize; the last step is 1/64.
void build_levels(Net& n) {
  auto x = quantized(n, n.input({1, 3, 24, 20}), -1, 1 - 1.0F / 128);
  x = n.op("Convolution-1", {x, weights(n, {40, 3, 3, 3})}, window("2,2", "1,1"));
  x = quantized(n, n.op("Relu-1", {n.op("Add-1", {x, n.weights({1, 40, 1, 1})})}), 0, 255.0F / 128);
  auto pool = window("1,1", "1,1");
  pool.emplace_back("kernel", "3,3");
  const auto pooled = n.op("MaxPool-1", {x}, pool);
  x = n.op("GroupConvolution-1", {pooled, weights(n, {40, 1, 1, 3, 3})}, window("1,1", "1,1"));
  x = quantized(n, x, -4, 4 - 8.0F / 256);
  x = n.op("Convolution-1", {x, weights(n, {40, 40, 1, 1})}, window("1,1", "0,0"));
  x = quantized(n, n.op("Add-1", {quantized(n, x, -4, 4 - 8.0F / 256), pooled}), -4, 4 - 8.0F / 256);
  x = n.op("Convolution-1", {x, weights(n, {33, 40, 3, 3})}, window("2,2", "1,1"));
  n.result(quantized(n, x, -2, 2 - 4.0F / 256));
}

std::vector<Tensor> inputs_of(const Checked& c) {
  const auto shape = c.facts.outputs[static_cast<std::size_t>(c.model->parameters[0])][0].shape.to_shape();
  std::vector<float> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 29 % 127) / 64.0F - 1;
  return {floats(shape, values)};
}

std::shared_ptr<const Plan> plan_of(const Checked& c, Precision precision, i64 runs) {
  Options options;
  options.precision = precision;
  options.expected_runs = runs;
  return plan(c.model, c.facts, options);
}

std::vector<double> result_of(const Checked& c, Precision precision, int threads, Tier tier = Tier::fast,
                              Observer* observer = nullptr) {
  Options options;
  options.tier = tier;
  options.precision = precision;
  options.expected_runs = 100;
  options.runtime.threads = threads;
  auto session = compile(c.model, c.facts, options);
  return to_f64(session.run(inputs_of(c), observer).at(0));
}

int count_stored(const Plan& plan, ElementType type) {
  return static_cast<int>(std::count_if(plan.values.begin(), plan.values.end(),
                                        [&](const Value& v) { return v.role != Role::constant && v.stored == type; }));
}

int count_kernels(const Plan& plan, std::string_view begin) {
  return static_cast<int>(std::count_if(plan.steps.begin(), plan.steps.end(), [&](const Step& s) {
    return s.kernel && s.kernel->name().starts_with(begin);
  }));
}

/// Everything it is shown is f32, but the shapes.
struct Watcher final : Observer {
  int seen = 0;
  Verdict after(Event& event) override {
    for (const auto& t : event.outputs)
      if (t) {
        ++seen;
        CHECK((t.type() == ElementType::f32 || t.type() == ElementType::i64));
      }
    return Verdict::go_on;
  }
};

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

/// Five layers in bf16, each of which rounds operands and results to 2^-9; the same bits on any number of threads and
/// where someone watches.
void check_five_layers(const Checked& c) {
  const auto got = result_of(c, Precision::bf16, 2);
  const auto expected = result_of(c, Precision::f32, 1, Tier::reference);
  double largest = 0;
  for (const auto v : expected) largest = std::max(largest, std::abs(v));
  CHECK(largest_difference(got, expected) < largest * 10 / 512);
  CHECK(got == result_of(c, Precision::bf16, 1));
  CHECK(got == result_of(c, Precision::bf16, 4));
  Watcher watcher;
  CHECK(got == result_of(c, Precision::bf16, 2, Tier::fast, &watcher));
  CHECK(watcher.seen > 12);
}

}  // namespace

TEST_CASE("bf16: kernels, what is stored, results") {
  Net net(ElementType::f32, false);
  build_floats(net);
  const auto c = net.model.check();
  REQUIRE(c.diagnostics.errors() == 0);
  for (const i64 runs : {1, 100}) {
    const auto made = plan_of(c, Precision::bf16, runs);
    CHECK(count_kernels(*made, "bf16") == 5);
    CHECK(count_stored(*made, ElementType::bf16) == 4);
  }
  check_five_layers(c);
}

namespace {

/// A layer of an encoder: queries, keys and values are views of products.
void build_encoder(Net& n) {
  const auto linear = [&](int x, i64 k, i64 m) {
    return n.op("Add-1", {n.op("MatMul-1", {x, n.weights({k, m})}), n.weights({m})});
  };
  const auto x = n.op("Add-1", {n.input({2, 14, 32}), n.weights({32})});
  const auto heads = [&](int y) {
    const auto split = n.op("Reshape-1", {linear(y, 32, 32), n.indices({0, 0, 2, 16})}, {{"special_zero", "true"}});
    return n.op("Transpose-1", {split, n.indices({0, 2, 1, 3})});
  };
  const auto y = n.op("ScaledDotProductAttention-13", {heads(x), heads(x), heads(x)}, {{"causal", "false"}});
  const auto joined = n.op("Reshape-1", {n.op("Transpose-1", {y, n.indices({0, 2, 1, 3})}), n.indices({0, 0, 32})},
                           {{"special_zero", "true"}});
  n.result(linear(joined, 32, 9));
}

}  // namespace

TEST_CASE("bf16: views of products are stored as those are, and attention reads and writes it") {
  Net net(ElementType::f32, false);
  build_encoder(net);
  const auto c = net.model.check();
  REQUIRE(c.diagnostics.errors() == 0);
  const auto made = plan_of(c, Precision::bf16, 100);
  CHECK(count_kernels(*made, "bf16") == 5);
  CHECK(count_stored(*made, ElementType::bf16) == 5);  // what attention reads and writes, and a view of that
  check_five_layers(c);
}

TEST_CASE("int8: kernels, what is stored, results within a level") {
  Net net(ElementType::f32, false);
  build_levels(net);
  const auto c = net.model.check();
  REQUIRE(c.diagnostics.errors() == 0);
  for (const i64 runs : {1, 100}) {
    const auto made = plan_of(c, Precision::int8, runs);
    CHECK(count_kernels(*made, "int8") == 4);
    CHECK(count_stored(*made, ElementType::u8) == 4);
  }
  const auto got = result_of(c, Precision::int8, 2);
  const auto expected = result_of(c, Precision::f32, 1, Tier::reference);
  // Sums are exact; a value that lies on the border of two levels may be rounded to either, in each layer.
  CHECK(largest_difference(got, expected) <= 4 * (1.0 / 64) * 1.001);
  std::size_t equal = 0;
  for (std::size_t i = 0; i < got.size(); ++i) equal += std::abs(got[i] - expected[i]) < 1e-5;
  CHECK(equal > got.size() * 9 / 10);
  CHECK(got == result_of(c, Precision::int8, 1));
  CHECK(got == result_of(c, Precision::int8, 4));
  Watcher watcher;
  CHECK(got == result_of(c, Precision::int8, 2, Tier::fast, &watcher));
  CHECK(watcher.seen > 12);
}

TEST_CASE("inverted residuals: the same bits as three convolutions, on any number of threads") {
  int tried = 0;
  for (const auto* examples : testing::patterns::all()) {
    if (examples->pattern != "inverted_residual") continue;
    for (const auto& example : examples->list) {
      INFO(example.kernel);
      Net net(ElementType::f32, false);
      example.build(net);
      const auto c = net.model.check();
      REQUIRE(c.diagnostics.errors() == 0);
      Options options;
      options.precision = example.precision;
      options.expected_runs = example.runs;
      const auto result = [&](int threads) {
        options.runtime.threads = threads;
        auto session = compile(c.model, c.facts, options);
        return to_f64(session.run(inputs_of(c)).at(0));
      };
      const auto together = result(2);
      CHECK(together == result(1));
      CHECK(together == result(5));
      options.without = {"inverted_residual"};
      CHECK(together == result(2));
      ++tried;
    }
  }
  CHECK(tried == 9);
}

namespace {

/// Weights of many panels and of few, which are read of the file or lie in memory; `wide` gives a value of f32, of
/// weights that make(shape, outputs' axis) gives.
template <class Make, class Between>
void build_panels(Net& n, Make make, Between between) {
  auto x = between(n.input({1, 40, 12, 10}), -1);
  x = between(n.op("Convolution-1", {x, make(Shape{300, 40, 1, 1}, 0)}, window("1,1", "0,0")), -2);
  x = between(n.op("Convolution-1", {x, make(Shape{44, 300, 3, 3}, 0)}, window("2,2", "1,1")), 0);
  x = between(n.op("Convolution-1", {x, make(Shape{270, 44, 3, 2}, 0)}, window("2,2", "1,1")), -1);
  x = n.op("Reshape-1", {x, n.indices({5, -1})}, {{"special_zero", "false"}});  // 270 · 9 / 5
  x = between(n.op("MatMul-1", {x, make(Shape{530, 486}, 0)}, {{"transpose_b", "true"}}), -3);
  x = between(n.op("MatMul-1", {x, make(Shape{530, 301}, 1)}), -1);
  n.result(n.op("MatMul-1", {x, make(Shape{2, 301}, 0)}, {{"transpose_b", "true"}}));
}

void check_once(const Net& net, Precision precision, std::string_view kernels, int count) {
  const auto c = net.model.check();
  REQUIRE(c.diagnostics.errors() == 0);
  CHECK(count_kernels(*plan_of(c, precision, 1), kernels) == count);
  const auto often = result_of(c, precision, 2);
  for (const int threads : {1, 2, 5}) {
    Options options;
    options.precision = precision;
    options.runtime.threads = threads;
    auto session = compile(c.model, c.facts, options);
    CHECK(to_f64(session.run(inputs_of(c)).at(0)) == often);
    CHECK(to_f64(session.run(inputs_of(c)).at(0)) == often);  // the weights are still there
  }
}

}  // namespace

TEST_CASE("single runs pack weights as they need them: the same bits as of plans that run often") {
  {
    Net net(ElementType::f32, false);
    build_panels(
        net, [&](const Shape& shape, int) { return net.weights(shape); }, [](int x, float) { return x; });
    check_once(net, Precision::bf16, "bf16", 6);
  }
  for (const bool unsigned_codes : {false, true}) {
    Net net(ElementType::f32, false);
    const auto codes = [&](const Shape& shape, int outputs) {
      std::vector<float> values(static_cast<std::size_t>(shape.count()));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i * 37 % 251) - (unsigned_codes ? 0 : 125);
      const auto type = unsigned_codes ? ElementType::u8 : ElementType::i8;
      auto x = net.op("Convert-1", {net.constant(convert(floats(shape, values), type))}, {{"destination_type", "f32"}});
      Shape scales(shape.size(), 1);
      scales[static_cast<std::size_t>(outputs)] = shape[static_cast<std::size_t>(outputs)];
      if (unsigned_codes) x = net.op("Subtract-1", {x, net.numbers({128}, {})});
      return net.op("Multiply-1", {x, net.weights(scales, 1.0F / 128)});
    };
    build_panels(net, codes, [&](int x, float low) { return quantized(net, x, low, low + 255.0F / 64); });
    check_once(net, Precision::int8, "int8", 7);  // and what quantizes the input of the first MatMul
  }
}
