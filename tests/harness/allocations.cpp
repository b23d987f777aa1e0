// Counts what a run allocates once a session has run before: nothing, for models of static shapes and planned kernels,
// and reference kernels whose lists lie in EvalContext::memory().
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <atomic>

#include <filesystem>

#include "io/npy.hpp"
#include "unit/small_model.hpp"
#include "ways.hpp"

namespace {
std::atomic<long> allocations = 0;
}

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* at, std::size_t size) {
  ++allocations;
  return __libc_realloc(at, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** at, std::size_t alignment, std::size_t size) {
  ++allocations;
  *at = __libc_memalign(alignment, size);
  return *at ? 0 : ENOMEM;
}
}

using namespace ovir;

namespace {

constexpr int kRuns = 10;

int weights(SmallModel& m, const std::string& name, const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 31 % 101) / 101.0F - 0.5F;
  return m.graph.constant(name, floats(shape, values));
}

/// 3x3, stride 1, and a bias and an activation.
int convolution(SmallModel& m, const std::string& name, int from, i64 in, i64 out) {
  const auto x = m.graph.add(name, "Convolution-1", {from, weights(m, name + "/filters", {out, in, 3, 3})},
                             {{"strides", "1,1"}, {"dilations", "1,1"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}});
  return m.graph.add(name + "/relu", "Relu-1",
                     {m.graph.add(name + "/sum", "Add-1", {x, weights(m, name + "/bias", {1, out, 1, 1})})});
}

void convolutions(SmallModel& m) {
  auto x = m.graph.parameter("x", ElementType::f32, {1, 3, 20, 20});
  x = convolution(m, "a", x, 3, 32);
  x = m.graph.add("sum", "Add-1", {x, convolution(m, "b", x, 32, 32)});
  m.graph.result("y", convolution(m, "c", x, 32, 40));
}

/// Convolutions and poolings along three axes.
void volumes(SmallModel& m) {
  const spec::AttributeTexts around{
      {"strides", "1,1,1"}, {"dilations", "1,1,1"}, {"pads_begin", "1,1,1"}, {"pads_end", "1,1,1"}};
  const spec::AttributeTexts halved{
      {"kernel", "2,2,2"}, {"strides", "2,2,2"}, {"pads_begin", "0,0,0"}, {"pads_end", "0,0,0"}};
  auto x = m.graph.parameter("x", ElementType::f32, {1, 3, 8, 14, 12});
  for (const auto& [name, in, out] : {std::tuple{"a", 3, 32}, {"b", 32, 32}, {"c", 32, 20}}) {
    x = m.graph.add(name, "Convolution-1", {x, weights(m, std::string(name) + "/filters", {out, in, 3, 3, 3})}, around);
    x = m.graph.add(std::string(name) + "/relu", "Relu-1", {x});
  }
  x = m.graph.add("max", "MaxPool-1", {x}, halved);
  auto average = halved;
  average.emplace_back("exclude-pad", "true");
  m.graph.result("y", m.graph.add("average", "AvgPool-1", {x}, average));
}

/// Pooling along one axis.
void line(SmallModel& m) {
  const spec::AttributeTexts halved{{"kernel", "2"}, {"strides", "2"}, {"pads_begin", "0"}, {"pads_end", "0"}};
  m.graph.result("y", m.graph.add("max", "MaxPool-1", {m.graph.parameter("x", ElementType::f32, {1, 20, 12})}, halved));
}

void elementwise(SmallModel& m) {
  const auto x = m.graph.parameter("x", ElementType::f32, {8, 64});
  auto y = m.graph.add("add", "Add-1", {x, weights(m, "w", {64})});
  y = m.graph.add("relu", "Relu-1", {y});
  y = m.graph.add("sigmoid", "Sigmoid-1", {y});
  m.graph.result("r", m.graph.add("multiply", "Multiply-1", {y, x}));
}

void products(SmallModel& m) {
  auto x = m.graph.parameter("x", ElementType::f32, {8, 64});
  x = m.graph.add("a", "MatMul-1", {x, weights(m, "w", {64, 48})});
  x = m.graph.add("soft", "Softmax-8", {x}, {{"axis", "-1"}});
  x = m.graph.add("cat", "Concat-1", {x, m.graph.add("tanh", "Tanh-1", {x})}, {{"axis", "1"}});
  x = m.graph.add("b", "MatMul-1", {x, weights(m, "v", {96, 16})});
  m.graph.result("y", m.graph.add("sigmoid", "Sigmoid-1", {x}));
}

/// Of matrices that are both computed.
void computed_products(SmallModel& m) {
  const auto x = m.graph.parameter("x", ElementType::f32, {3, 40, 64}),
             y = m.graph.parameter("y", ElementType::f32, {3, 64, 70});
  const auto z = m.graph.add("z", "MatMul-1", {x, y});
  m.graph.result("a", z);
  m.graph.result("b", m.graph.add("left", "MatMul-1", {x, z}, {{"transpose_a", "true"}}));
  m.graph.result("c", m.graph.add("dots", "MatMul-1", {weights(m, "w", {2, 70}), z}, {{"transpose_b", "true"}}));
}

void reference_kernels(SmallModel& m) {
  auto x = m.graph.parameter("x", ElementType::i32, {8, 64});
  for (const auto* name : {"a", "b", "c"}) x = m.graph.add(name, "Negative-1", {x});
  m.graph.result("y", x);
}

int indices(SmallModel& m, const std::string& name, std::initializer_list<i64> values, ElementType type) {
  return m.graph.constant(name, convert(Tensor::vector(values), type));
}

/// Results that lie in the arena, in the model, and in the caller's own input.
void results_elsewhere(SmallModel& m) {
  const auto x = m.graph.parameter("x", ElementType::f32, {8, 64});
  const auto y = m.graph.add("a", "MatMul-1", {x, weights(m, "w", {64, 48})});
  m.graph.result("reshaped", m.graph.add("b", "Reshape-1", {y, indices(m, "to", {4, 96}, ElementType::i64)},
                                         {{"special_zero", "false"}}));
  m.graph.result("constant", weights(m, "c", {3, 5}));
}

void half_inputs(SmallModel& m) {
  const auto x = m.graph.parameter("x", ElementType::f16, {8, 64});
  m.graph.result(
      "y", m.graph.add("convert", "Convert-1", {m.graph.add("relu", "Relu-1", {x})}, {{"destination_type", "f32"}}));
}

void slices_and_sums(SmallModel& m) {
  auto x = m.graph.parameter("x", ElementType::i32, {8, 6, 10});
  x = m.graph.add("slice", "StridedSlice-1",
                  {x, indices(m, "begin", {1, 0, 2}, ElementType::i32), indices(m, "end", {7, 0, 9}, ElementType::i64)},
                  {{"begin_mask", "0,1,0"}, {"end_mask", "0,1,0"}});
  x = m.graph.add("transpose", "Transpose-1", {x, indices(m, "order", {2, 0, 1}, ElementType::i32)});
  x = m.graph.add("gather", "Gather-8",
                  {x, indices(m, "picks", {3, 1, 1}, ElementType::i32), indices(m, "axis", {0}, ElementType::i32)});
  m.graph.result("y", m.graph.add("sum", "ReduceSum-1", {x, indices(m, "axes", {1}, ElementType::i32)}));
}

void spectrum(SmallModel& m) {
  const auto x = m.graph.parameter("x", ElementType::f32, {2, 96});
  const auto y = m.graph.add("stft", "STFT-15",
                             {x, weights(m, "window", {24}), m.graph.constant("size", Tensor::scalar(24)),
                              m.graph.constant("step", Tensor::scalar(8))},
                             {{"transpose_frames", "false"}});
  m.graph.result("y", y);
  m.graph.result("z", m.graph.add("idft", "IDFT-7", {y, indices(m, "axes", {1}, ElementType::i32)}));
}

void detections(SmallModel& m) {
  const auto boxes = m.graph.parameter("boxes", ElementType::f32, {1, 40}),
             scores = m.graph.parameter("scores", ElementType::f32, {1, 30});
  m.graph.result("y", m.graph.add("found", "DetectionOutput-8", {boxes, scores, weights(m, "priors", {1, 2, 40})},
                                  {{"keep_top_k", "5"}, {"nms_threshold", "0.5"}, {"normalized", "true"}}));
}

/// Results in another type than they are kept in.
void half_results(SmallModel& m) {
  const auto x = m.graph.parameter("x", ElementType::f16, {8, 64});
  m.graph.result("y", m.graph.add("relu", "Relu-1", {x}));
}

void states(SmallModel& m) {
  const auto x = m.graph.parameter("x", ElementType::f32, {8, 64});
  const spec::AttributeTexts variable{{"variable_id", "v"}, {"variable_type", "f32"}, {"variable_shape", "8,64"}};
  const auto sum = m.graph.add("sum", "Add-1", {m.graph.add("read", "ReadValue-6", {}, variable), x});
  m.graph.result("y", m.graph.add("assign", "Assign-6", {sum}, {{"variable_id", "v"}}));
}

void resized(SmallModel& m) {
  const auto x = m.graph.parameter("x", ElementType::f32, {1, 3, 6, 5});
  m.graph.result("y", m.graph.add("larger", "Interpolate-11",
                                  {x, indices(m, "sizes", {12, 9}, ElementType::i64),
                                   indices(m, "axes", {2, 3}, ElementType::i64)},
                                  {{"mode", "linear_onnx"}, {"shape_calculation_mode", "sizes"}}));
  m.graph.result(
      "z", m.graph.add("rolled", "Roll-7",
                       {x, indices(m, "by", {1, 2}, ElementType::i64), indices(m, "along", {2, 3}, ElementType::i64)}));
}

/// Five rounds, each of a row: what the body gives is fed back, and its rows are joined.
void loop(SmallModel& m) {
  spec::GraphText body(m.bin);
  const auto row = body.parameter("row", ElementType::f32, {1, 8}),
             held = body.parameter("held", ElementType::f32, {1, 8}),
             round = body.parameter("round", ElementType::i64, {});
  const auto wide = body.add("wide", "Convert-1", {round}, {{"destination_type", "f32"}});
  const auto sum = body.add("sum", "Add-1", {body.add("product", "Multiply-1", {row, held}), wide});
  const auto next = body.result("next", sum);
  const auto on = body.result("on", body.constant("true", convert(Tensor::scalar(1), ElementType::boolean)));
  const auto inner =
      fmt::format(R"(<port_map><input external_port_id="2" internal_layer_id="{}" axis="0"/>)"
                  R"(<input external_port_id="3" internal_layer_id="{}"/>)"
                  R"(<input external_port_id="-1" internal_layer_id="{}" purpose="current_iteration"/>)"
                  R"(<output external_port_id="4" internal_layer_id="{}"/>)"
                  R"(<output external_port_id="5" internal_layer_id="{}" axis="0"/>)"
                  R"(<output external_port_id="-1" internal_layer_id="{}" purpose="execution_condition"/></port_map>)"
                  R"(<back_edges><edge from-layer="{}" to-layer="{}"/></back_edges><body>{}</body>)",
                  row, held, round, next, next, on, next, held, body.text());
  const auto x = m.graph.parameter("x", ElementType::f32, {5, 8}),
             first = m.graph.parameter("first", ElementType::f32, {1, 8});
  const auto times = m.graph.constant("times", Tensor::scalar(5)),
             go = m.graph.constant("go", convert(Tensor::scalar(1), ElementType::boolean));
  const auto y = m.graph.layer("loop", "Loop", "opset5", "", {times, go, x, first},
                               spec::output_port(4, ElementType::f32) + spec::output_port(5, ElementType::f32), inner);
  m.graph.result("last", y, 4);
  m.graph.result("all", m.graph.add("relu", "Relu-1", {y}));
}

/// Levels that are 1/64 apart, and a convolution between.
void quantized(SmallModel& m) {
  const auto levels = [&](const std::string& name, int x) {
    const auto limit = [&](const char* end, float v) { return m.graph.constant(name + end, floats({}, {v})); };
    const auto low = limit("/low", -2), high = limit("/high", 2 - 1.0F / 64);
    return m.graph.add(name, "FakeQuantize-1", {x, low, high, low, high}, {{"levels", "256"}});
  };
  const auto x = levels("in", m.graph.parameter("x", ElementType::f32, {1, 32, 6, 5}));
  const auto ones = m.graph.constant("ones", convert(floats({16, 32, 1, 1}, std::vector(512, 1.0F)), ElementType::i8));
  const auto filters =
      m.graph.add("filters", "Multiply-1",
                  {m.graph.add("wide", "Convert-1", {ones}, {{"destination_type", "f32"}}), weights(m, "s", {1})});
  m.graph.result(
      "y", levels("out",
                  m.graph.add("convolution", "Convolution-1", {x, filters},
                              {{"strides", "1,1"}, {"dilations", "1,1"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}})));
}

/// inputs/<parameter>.npy beside a model.
std::vector<Tensor> inputs_beside(const std::filesystem::path& model, const Checked& c) {
  std::vector<Tensor> inputs;
  for (const auto node : c.model->parameters)
    inputs.push_back(io::read_npy(model.parent_path() / "inputs" / ((*c.model)[node].layer->name + ".npy")));
  return inputs;
}

/// The allocations of a few runs behind the first ones, which place, prepare and leave their results.
long steady_allocations(const Checked& c, const std::vector<Tensor>& inputs, int threads, Precision precision) {
  auto options = testing::options_of(testing::kSteady);
  options.precision = precision;
  options.runtime.threads = threads;
  auto session = compile(c.model, c.facts, options);
  std::vector<Tensor> results;
  for (int i = 0; i < 4; ++i) session.run(inputs, results);
  const auto before = allocations.load();
  for (int i = 0; i < kRuns; ++i) session.run(inputs, results);
  return allocations.load() - before;
}

bool judge(const char* name, const Checked& c, const std::vector<Tensor>& inputs,
           Precision precision = Precision::f32) {
  bool good = true;
  for (const int threads : {1, 2}) {
    const auto count = steady_allocations(c, inputs, threads, precision);
    std::printf("%s, %d threads: %ld allocations in %d runs\n", name, threads, count, kRuns);
    good &= count == 0;
  }
  return good;
}

bool can_be_run(const char* name, const Checked& c) {
  if (c.model && c.diagnostics.errors() == 0) return true;
  std::printf("%s: cannot be run\n", name);
  for (const auto& d : c.diagnostics.all()) std::printf("  %s\n", d.message.c_str());
  return false;
}

bool judge_file(const char* path) {
  const auto c = check_model(path);
  return can_be_run(path, c) && judge(path, c, inputs_beside(path, c));
}

}  // namespace

/// Without arguments small models; otherwise models from files, with inputs/<parameter>.npy beside them.
int main(int argc, char** argv) {
  struct Small {
    const char* name;
    void (*make)(SmallModel&);
    Precision precision = Precision::f32;
  };
  constexpr Small kSmall[] = {{"elementwise", elementwise},
                              {"products", products},
                              {"computed products", computed_products},
                              {"convolutions", convolutions},
                              {"volumes", volumes},
                              {"line", line},
                              {"reference kernels", reference_kernels},
                              {"results elsewhere", results_elsewhere},
                              {"f16 inputs", half_inputs},
                              {"slices and sums", slices_and_sums},
                              {"spectrum", spectrum},
                              {"detections", detections},
                              {"f16 results", half_results},
                              {"states", states},
                              {"loop", loop},
                              {"resized", resized},
                              {"bf16 convolutions", convolutions, Precision::bf16},
                              {"bf16 products", products, Precision::bf16},
                              {"int8", quantized, Precision::int8}};
  bool good = true;
  for (int i = 1; i < argc; ++i) good &= judge_file(argv[i]);
  if (argc > 1) return good ? 0 : 1;
  for (const auto& [name, make, precision] : kSmall) {
    SmallModel m;
    make(m);
    const auto c = m.check();
    good &= can_be_run(name, c) && judge(name, c, some_inputs(c), precision);
  }
  return good ? 0 : 1;
}
