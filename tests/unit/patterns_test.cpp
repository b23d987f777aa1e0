// Every pattern of the fast tier fires where it should, can be left out by its name, and computes what the nodes that
// it takes compute by themselves.
#include <algorithm>
#include <array>
#include <set>

#include "catch.hpp"
#include "exec/profiler.hpp"
#include "fast/patterns.hpp"
#include "kernels.hpp"
#include "moments.hpp"
#include "pattern_examples.hpp"

using namespace ovir;
using testing::Example;
using testing::Net;

namespace {

/// Names of the patterns that a plan run so often is offered: those of the oneDNN module where it was built.
std::set<std::string_view> pattern_names(i64 runs, Precision precision = Precision::f32) {
  PlanOptions options;
  options.precision = precision;
  options.expected_runs = runs;
  std::set<std::string_view> names;
  for (const auto* p : fast::patterns_for(options))
    if (OVIR_ONEDNN || !p->name.starts_with("onednn.")) names.insert(p->name);
  return names;
}

struct Recorder final : Profiler {
  std::set<std::string> kernels;
  void after(const StepTime& step) override { kernels.insert(step.kernel); }
};

std::set<std::string> kernels_of(const Plan& plan) {
  std::set<std::string> names;
  for (const auto& step : plan.steps)
    if (step.kernel) names.insert(step.kernel->name());
  return names;
}

std::vector<Tensor> inputs_of(const Checked& c, i64 batch, int seed) {
  std::vector<Tensor> inputs;
  for (const auto node : c.model->parameters) {
    const auto& fact = c.facts.outputs[static_cast<std::size_t>(node)][0];
    Shape shape;
    for (const auto& d : fact.shape) shape.push_back(d.is_static() ? d.length() : batch);
    std::vector<float> values(static_cast<std::size_t>(shape.count()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] =
          static_cast<float>((i * 29 + inputs.size() * 17 + static_cast<std::size_t>(seed) * 13) % 127) / 64.0F - 1;
    // Lengths of sequences are the only integers.
    if (fact.type == ElementType::i32)
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(3 + i);
    inputs.push_back(convert(floats(shape, values), fact.type));
  }
  return inputs;
}

/// The largest difference of each result, relative to its largest element, of those that are floats. Where one is NaN
/// the other has to be.
float distance(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  REQUIRE(a.size() == b.size());
  float worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    REQUIRE(a[k].type() == b[k].type());
    REQUIRE(a[k].shape() == b[k].shape());
    const auto x = to_f64(a[k]), y = to_f64(b[k]);
    double error = 0, largest = 0;
    REQUIRE(
        std::equal(x.begin(), x.end(), y.begin(), [](double v, double w) { return std::isnan(v) == std::isnan(w); }));
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i])) continue;
      error = std::max(error, std::abs(x[i] - y[i]));
      largest = std::max(largest, std::abs(y[i]));
    }
    if (error > 0) worst = std::max(worst, static_cast<float>(error / largest));
  }
  return worst;
}

Options options_of(const Example& e, std::vector<std::string> without = {}) {
  Options options;
  options.precision = e.precision;
  options.expected_runs = e.runs;
  options.without = std::move(without);
  options.runtime.threads = 2;
  return options;
}

Checked checked(const Net& net) {
  auto c = net.model.check();
  for (const auto& d : c.diagnostics.all()) UNSCOPED_INFO(d.message);
  REQUIRE(c.diagnostics.errors() == 0);
  return c;
}

/// What is allowed of f16 results: a unit in the last place at least.
float allowed(const Example& e, ElementType type) {
  return type == ElementType::f16 ? std::max(1.0F / 1024, e.error) : e.error;
}

std::vector<ElementType> types_of(const Example& e) {
  return e.f16 ? std::vector{ElementType::f32, ElementType::f16} : std::vector{ElementType::f32};
}

/// check(pattern, example, type, net) for each element type in which an example's kernel fires.
template <class Check>
void for_each(std::string_view pattern, std::span<const Example> examples, Check check) {
  for (const auto& e : examples)
    for (const auto type : types_of(e)) {
      INFO(pattern << ": " << e.kernel << " in " << name(type) << (e.runs > 1 ? ", often" : ", once")
                   << (e.open ? ", open batch" : ""));
      Net net(type, e.open);
      e.build(net);
      check(pattern, e, type, net);
    }
}
/// The same for all patterns that are there.
template <class Check>
void for_each_pattern(Check check) {
  for (const auto* examples : testing::patterns::all()) {
    const auto& first = examples->list.front();
    if (pattern_names(first.runs, first.precision).count(examples->pattern))
      for_each(examples->pattern, examples->list, check);
  }
}

std::vector<Tensor> reference_results(const Checked& c, std::span<const Tensor> inputs,
                                      Precision precision = Precision::f32) {
  Options options;
  options.tier = Tier::reference;
  options.precision = precision;
  return compile(c.model, c.facts, options).run(inputs);
}

}  // namespace

TEST_CASE("the oneDNN module loads where it was built, for plans that run often") {
  for (const auto* examples : testing::patterns::all()) {
    if (!examples->pattern.starts_with("onednn.")) continue;
    const auto& e = examples->list.front();
    INFO(e.kernel);
    Net net(ElementType::f32, e.open);
    e.build(net);
    const auto c = net.model.check();
    const auto has_kernel = [&](i64 runs) {
      auto options = options_of(e);
      options.expected_runs = runs;
      return kernels_of(*plan(c.model, c.facts, options)).count(std::string(e.kernel)) == 1;
    };
    CHECK(has_kernel(100) == (OVIR_ONEDNN != 0));
    CHECK_FALSE(has_kernel(1));
  }
}

TEST_CASE("every pattern has an example, and every example a pattern") {
  std::set<std::string_view> examples, known;
  for (const auto* e : testing::patterns::all()) {
    INFO(e->pattern);
    CHECK_FALSE(e->list.empty());
    examples.insert(e->pattern);  // some have several files
  }
  for (const auto precision : {Precision::f32, Precision::declared, Precision::bf16, Precision::int8})
    for (const i64 runs : {1, 100}) known.merge(pattern_names(runs, precision));
  for (const auto* p : fast::patterns::all()) CHECK(known.count(p->name) == 1);
  for (const auto name : known) {
    INFO(name);
    CHECK(examples.count(name) == 1);
  }
  for (const auto name : examples) {
    INFO(name);
    CHECK((known.count(name) == 1 || name.starts_with("onednn.")));
  }
}

TEST_CASE("a pattern fires, runs, and computes what the nodes by themselves do") {
  for_each_pattern([](std::string_view pattern, const Example& e, ElementType type, const Net& net) {
    // Where sums of bf16 and u8 are computed in tiles nothing takes Winograd for them.
    const bool in_vectors = e.precision != Precision::f32 && e.kernel.find("winograd") != std::string_view::npos;
    if (in_vectors) fast::force_isa(fast::Isa::avx512);
    const auto c = checked(net);
    // compile() would give batches that are open before the run a plan of their own.
    const auto session = [&](const Options& options) {
      return e.open ? Session(std::make_shared<Runtime>(options.runtime), plan(c.model, c.facts, options))
                    : compile(c.model, c.facts, options);
    };
    auto fused = session(options_of(e)), alone = session(options_of(e, {std::string(pattern)}));
    auto unfused = session(options_of(e, {"fuse"}));
    auto one_thread = options_of(e);
    one_thread.runtime.threads = 1;
    auto single = session(one_thread);
    CHECK(kernels_of(*plan(c.model, c.facts, options_of(e))).count(std::string(e.kernel)) == 1);
    CHECK(kernels_of(*plan(c.model, c.facts, options_of(e, {std::string(pattern)}))).count(std::string(e.kernel)) == 0);
    Recorder recorder;
    fused.set_profiler(&recorder);
    for (const i64 batch : e.open ? std::vector<i64>{2, 1, 2, 3} : std::vector<i64>{2, 2}) {
      const auto inputs = inputs_of(c, batch, 1);
      const auto expected = reference_results(c, inputs);
      recorder.kernels.clear();
      const auto results = fused.run(inputs);
      CHECK(recorder.kernels.count(std::string(e.kernel)) == 1);
      CHECK(distance(results, expected) <= allowed(e, type));
      CHECK(distance(alone.run(inputs), expected) <= allowed(e, type));
      CHECK(distance(unfused.run(inputs), expected) <= allowed(e, type));
      CHECK(same_bits(single.run(inputs), results));
    }
    if (in_vectors) fast::force_isa(fast::Isa::best);
  });
}

TEST_CASE("what patterns take runs with an open batch, too, once and often, by the plan for all sizes and by others") {
  int ran = 0;
  for (const auto* examples : testing::patterns::all())
    for (const auto& e : examples->list)
      for (const auto type : types_of(e)) {
        Net net(type, testing::kOpen);
        e.build(net);
        const auto c = net.model.check();
        if (c.diagnostics.errors() > 0) continue;  // it says the batch by a constant
        const auto inputs = inputs_of(c, 2, 1);
        std::vector<Tensor> expected;
        try {
          expected = reference_results(c, inputs);
        } catch (const Failure&) {
          continue;
        }
        for (const i64 runs : {testing::kOnce, testing::kOften}) {
          INFO(examples->pattern << ": " << e.kernel << " in " << name(type) << ", " << runs << " runs");
          auto options = options_of(e);
          options.expected_runs = runs;
          Session direct(std::make_shared<Runtime>(options.runtime), plan(c.model, c.facts, options));
          auto compiled = compile(c.model, c.facts, options);
          const auto most = 4 * allowed(e, type);  // that is of the example's own inputs, which these are not
          CHECK(distance(direct.run(inputs), expected) <= most);
          CHECK(distance(compiled.run(inputs), expected) <= most);
          ++ran;
        }
      }
  CHECK(ran > 500);
}

TEST_CASE("integers are multiplied alike by the loops of all instruction sets") {
  int tried = 0;
  for_each_pattern([&](std::string_view, const Example& e, ElementType type, const Net& net) {
    if (e.precision != Precision::int8) return;
    const auto c = checked(net);
    const auto inputs = inputs_of(c, 2, 1);
    const auto expected = reference_results(c, inputs);
    fast::for_each_isa([&] {
      CHECK(distance(compile(c.model, c.facts, options_of(e)).run(inputs), expected) <= allowed(e, type));
      ++tried;
    });
  });
  CHECK(tried > 100);
}

TEST_CASE("groups of no channels, of which an empty value may have any number, are no groups") {
  Net net(ElementType::f32, testing::kFixed);
  const auto rows = net.input({0, 5, 7, 32});
  const auto grouped = net.op("Reshape-1", {rows, net.indices({0, 5, 7, 0, 3})}, {{"special_zero", "false"}});
  const auto y = testing::patterns::by_moments(net, grouped, {1, 2, 4});
  net.result(net.op("Reshape-1", {y, net.indices({0, 5, 7, 32})}, {{"special_zero", "false"}}));
  const auto c = checked(net);
  CHECK(kernels_of(*plan(c.model, c.facts, Options())).count("group_normalization") == 0);
}

TEST_CASE("experts whose matrices or weights the layer itself computes are no experts") {
  constexpr i64 experts = 3, tokens = 5, depth = 8;
  for (const bool own_matrices : {true, false}) {
    INFO((own_matrices ? "matrices" : "weights"));
    Net net(ElementType::f32, testing::kFixed);
    const auto tiled = net.op("Tile-1", {net.input({tokens, depth}), net.indices({experts, 1})});
    const auto x = net.op("Reshape-1", {tiled, net.indices({experts, -1, depth})}, {{"special_zero", "false"}});
    const auto width = own_matrices ? tokens : i64{6}, columns = own_matrices ? depth : 1;
    const auto gate = testing::matmul(net, x, own_matrices ? x : net.weights({experts, width, depth}), true);
    const auto y = testing::matmul(net, testing::relu(net, gate), net.weights({experts, columns, width}), true);
    const auto weights = own_matrices ? testing::relu(net, net.input({experts, tokens, 1})) : y;
    const auto product = net.op("Multiply-1", {y, weights});
    net.result(net.op("ReduceSum-1", {product, net.indices({0})}, {{"keep_dims", "false"}}));
    const auto c = checked(net);
    const auto inputs = inputs_of(c, 1, 1);
    auto session = compile(c.model, c.facts, Options());
    CHECK(distance(session.run(inputs), reference_results(c, inputs)) <= 1e-6F);
    CHECK(kernels_of(*plan(c.model, c.facts, Options())).count("experts") == 0);
  }
}

TEST_CASE("what is made of a constant is made once by each name") {
  Net net(ElementType::f32, testing::kFixed);
  const auto weights = net.weights({4, 5});
  net.result(testing::matmul(net, net.input({3, 4}), weights));
  const auto c = checked(net);
  const auto whole = plan(c.model, c.facts, Options());
  Plan lowered;
  lowered.model = whole->model;
  lowered.facts = whole->facts;
  lowered.values = whole->values;
  lowered.value_of = whole->value_of;
  lowered.options.made = std::make_shared<MadeOfConstants>();
  const std::vector<char> free(lowered.model->nodes.size(), 0);
  const Graphlet graph(lowered, free, false);
  int made = 0;
  const auto make = [&] { return std::make_shared<const int>(++made); };
  for (const auto& node : lowered.model->nodes)
    for (const auto& v : node.inputs) {
      const auto first = graph.shared<int>(v, "a", make), second = graph.shared<int>(v, "a", make);
      CHECK((first == second) == (graph.given(v) != nullptr));
      const auto third = graph.shared<int>(v, "b", make);
      CHECK(*third == made);
    }
  CHECK(made == 2 + 3 + 3);  // of the constant by both names, and by every call of what is none
}

TEST_CASE("layers that share filters share what is packed, of planes of other sizes, too") {
  Net net(ElementType::f32, testing::kFixed);
  const auto dense = net.weights({40, 24, 3, 3}), pointwise = net.weights({40, 24, 1, 1}),
             by_channel = net.weights({24, 1, 1, 3, 3}), groups = net.weights({2, 20, 12, 3, 3}),
             turned = net.weights({24, 40, 3, 3});
  const auto one = testing::windows(2, 1, 1), two = testing::windows(2, 2, 1);
  for (const auto& plane : {std::array<i64, 2>{40, 37}, {20, 21}, {9, 8}, {3, 2}}) {
    const auto x = testing::passing(net, net.input({1, 24, plane[0], plane[1]}));
    for (const auto& windows : {one, two}) {
      net.result(net.op("Convolution-1", {x, dense}, windows));
      net.result(net.op("GroupConvolution-1", {x, by_channel}, windows));
      net.result(net.op("GroupConvolution-1", {x, groups}, windows));
      net.result(net.op("ConvolutionBackpropData-1", {x, turned}, windows));
    }
    net.result(net.op("Convolution-1", {x, pointwise}, testing::windows(2)));
    net.result(net.op("Convolution-1", {x, pointwise}, testing::windows(2, 2)));
  }
  const auto c = checked(net);
  const auto inputs = inputs_of(c, 1, 1);
  Options options;
  options.expected_runs = testing::kOften;
  options.runtime.threads = 2;
  CHECK(distance(compile(c.model, c.facts, options).run(inputs), reference_results(c, inputs)) <= 5e-6F);
}

TEST_CASE("constants may lie at any address of the weights file") {
  for_each_pattern([](std::string_view, const Example& e, ElementType type, const Net& net) {
    Net misplaced(type, e.open);
    misplaced.model.graph.misplace(1);
    e.build(misplaced);
    const auto c = checked(net), d = checked(misplaced);
    const auto inputs = inputs_of(c, 2, 6);
    CHECK(same_bits(reference_results(d, inputs), reference_results(c, inputs)));
    auto session = compile(d.model, d.facts, options_of(e)), other = compile(c.model, c.facts, options_of(e));
    for (int i = 0; i < 2; ++i) CHECK(same_bits(session.run(inputs), other.run(inputs)));
  });
}

TEST_CASE("a batch of 0 is for the reference kernels, known before the run or not") {
  int tried = 0;
  for_each_pattern([&](std::string_view, const Example& e, ElementType type, const Net&) {
    for (const auto& batch : {Dim(), Dim(0)}) {
      Net net(type, batch);
      e.build(net);
      const auto c = net.model.check();
      if (c.diagnostics.errors() > 0) continue;  // other inputs say how long the first axis is
      const auto inputs = inputs_of(c, 0, 1);
      auto session = compile(c.model, c.facts, options_of(e));
      std::vector<Tensor> expected;
      try {
        expected = reference_results(c, inputs);
      } catch (const Failure&) {
        CHECK_THROWS_AS(session.run(inputs), Failure);
        continue;
      }
      ++tried;
      for (int i = 0; i < 3; ++i) CHECK(distance(session.run(inputs), expected) == 0);
    }
  });
  CHECK(tried > 100);
}

TEST_CASE("a pattern leaves alone what others read") {
  for_each_pattern([](std::string_view, const Example& e, ElementType type, const Net& net) {
    for (std::size_t k = 0; k + 1 < net.layers().size(); ++k) {
      Net watched(type, e.open);
      e.build(watched);
      watched.result(watched.layers()[k]);
      const auto c = checked(watched);
      const auto inputs = inputs_of(c, 2, 3);
      const auto expected = reference_results(c, inputs);
      auto session = compile(c.model, c.facts, options_of(e));
      for (int i = 0; i < 2; ++i) CHECK(distance(session.run(inputs), expected) <= allowed(e, type));
    }
  });
}

TEST_CASE("an observer sees what a step gives beside an output that nobody reads") {
  struct Kernels final : Observer {
    std::vector<std::string> seen;
    Verdict after(Event& event) override {
      if (event.node.op->type != "MaxPool") return Verdict::go_on;
      seen.emplace_back(event.kernel);
      for (const auto& output : event.outputs) CHECK(output);
      return Verdict::go_on;
    }
  };
  Net net(ElementType::f32, testing::kFixed);
  const auto y = net.op("MaxPool-8", {net.input({1, 16, 8, 8})}, testing::pooled({{"index_element_type", "i64"}}), 2);
  net.result(testing::relu(net, y));
  const auto c = checked(net);
  Kernels kernels;
  compile(c.model, c.facts, Options()).run(inputs_of(c, 1, 1), &kernels);
  REQUIRE(kernels.seen.size() == 1);
  CHECK(kernels.seen[0] != "reference");
}

TEST_CASE("what a pattern computes may be placed over what nobody reads afterwards") {
  int tried = 0;
  for_each_pattern([&](std::string_view, const Example& e, ElementType type, const Net&) {
    Net net(type, e.open);
    net.roll_ends();
    e.build(net);
    const auto c = net.model.check();
    if (c.diagnostics.errors() > 0) return;  // a number cannot be rolled
    const auto inputs = inputs_of(c, 2, 4);
    const auto expected = reference_results(c, inputs);
    auto session = compile(c.model, c.facts, options_of(e));
    for (int i = 0; i < 2; ++i) CHECK(distance(session.run(inputs), expected) <= allowed(e, type));
    ++tried;
  });
  CHECK(tried > 500);
}

TEST_CASE("values that are stored in f16 are not taken for f32") {
  for_each_pattern([](std::string_view, const Example& e, ElementType type, const Net& net) {
    if (type != ElementType::f16 || e.precision != Precision::f32) return;
    const auto c = checked(net);
    auto options = options_of(e);
    options.precision = Precision::declared;
    const auto inputs = inputs_of(c, 2, 2);
    const auto expected = reference_results(c, inputs, Precision::declared);
    CHECK(distance(compile(c.model, c.facts, options).run(inputs), expected) <= 4.0F / 1024);
  });
}

TEST_CASE("a chain of any length is taken, piece by piece") {
  Net net(ElementType::f32, false);
  auto x = net.input({3, 9});
  for (int i = 0; i < 50; ++i) x = net.op(i % 3 ? "Tanh-1" : "Sigmoid-1", {x});
  net.result(x);
  const auto c = checked(net);
  const Example e{"", nullptr};
  const auto made = plan(c.model, c.facts, options_of(e));
  CHECK(made->steps.size() < 10);
  CHECK(std::all_of(made->steps.begin(), made->steps.end(), [](const Step& step) { return step.kernel != nullptr; }));
  const auto inputs = inputs_of(c, 3, 1);
  CHECK(distance(compile(c.model, c.facts, options_of(e)).run(inputs), reference_results(c, inputs)) <= e.error);
}

TEST_CASE("values stay blocked between convolutions, and are the same where they do not") {
  for_each("blocked", testing::blocked_examples(),
           [](std::string_view, const Example& e, ElementType type, const Net& net) {
             const auto c = checked(net);
             const auto made = plan(c.model, c.facts, options_of(e));
             const bool narrow = e.precision == Precision::bf16;
             const auto is_blocked = [&](int id) {
               const auto& v = made->value(id);
               return v.layout == Layout::blocked && (v.stored == ElementType::bf16) == narrow;
             };
             CHECK(std::any_of(made->steps.begin(), made->steps.end(), [&](const Step& step) {
               return step.kernel && step.kernel->name() == e.kernel &&
                      (is_blocked(step.inputs[0]) || is_blocked(step.outputs[0]));
             }));
             const auto kept = plan(c.model, c.facts, options_of(e, {"layout"}));
             CHECK(std::all_of(kept->values.begin(), kept->values.end(),
                               [](const Value& v) { return v.layout == Layout::plain; }));
             const auto inputs = inputs_of(c, 2, 4);
             const auto expected = reference_results(c, inputs);
             auto blocked = compile(c.model, c.facts, options_of(e)),
                  plain = compile(c.model, c.facts, options_of(e, {"layout"}));
             for (int i = 0; i < 2; ++i) {
               CHECK(distance(blocked.run(inputs), expected) <= allowed(e, type));
               CHECK(distance(plain.run(inputs), expected) <= allowed(e, type));
             }
           });
}

TEST_CASE("every pass that may be left out can be, by itself and with the others") {
  for_each(
      "blocked", testing::blocked_examples(), [](std::string_view, const Example& e, ElementType type, const Net& net) {
        const auto c = checked(net);
        const auto inputs = inputs_of(c, 2, 5);
        const auto expected = reference_results(c, inputs);
        for (const auto& without : std::vector<std::vector<std::string>>{{"fold"},
                                                                         {"fuse"},
                                                                         {"choose"},
                                                                         {"layout"},
                                                                         {"fuse", "choose"},
                                                                         {"fold", "fuse", "choose", "layout"}}) {
          INFO(without.front());
          CHECK(distance(compile(c.model, c.facts, options_of(e, without)).run(inputs), expected) <= allowed(e, type));
        }
      });
}
