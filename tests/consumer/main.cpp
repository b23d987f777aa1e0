// What an embedder does with ovir, right and wrong: it works or throws, and never crashes.
//   consumer MODEL.xml     of one f32 input and one output, both of static shape
#include <cstdio>
#include <exception>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <op/kit/elementwise.hpp>
#include <ovir.hpp>

namespace {

int failures = 0;

void expect(bool good, const char* what) {
  if (good) return;
  std::printf("not so: %s\n", what);
  ++failures;
}

template <class Work>
void expect_throws(Work&& work, const char* what) {
  try {
    work();
  } catch (const std::exception&) {
    return;
  }
  expect(false, what);
}

bool same(const ovir::Tensor& a, const ovir::Tensor& b) {
  return a.shape() == b.shape() && std::equal(a.bytes(), a.bytes() + a.byte_size(), b.bytes());
}

/// What an operation's file in lib/ops holds: y = x^3, of any numbers.
void cube(ovir::EvalContext& c) {
  ovir::eval_unary<ovir::Numbers>(c, []<class T>(T x) { return static_cast<T>(x * x * x); });
}
constexpr ovir::Version kVersions[] = {ovir::unary_version(1, cube)};
constexpr ovir::OpDef kCube{.type = "Cube", .set = "extension", .versions = kVersions};
constexpr const ovir::OpDef* kExtensions[] = {&kCube};

std::shared_ptr<const ovir::SourceFile> model_of_cube() {
  auto source = std::make_shared<ovir::SourceFile>();
  source->path = "cube.xml";
  source->text = R"(<net name="cube" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>2</dim></port></output></layer>
<layer id="1" name="cube" type="Cube" version="extension"><input><port id="0"><dim>2</dim></port></input>
<output><port id="1" precision="FP32"><dim>2</dim></port></output></layer>
<layer id="2" name="y" type="Result" version="opset1"><input><port id="0"><dim>2</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>)";
  return source;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  ovir::Diagnostics diagnostics;
  const auto model = ovir::load(argv[1], {}, diagnostics);
  if (!model) return 2;
  const auto facts = ovir::infer(*model, {}, diagnostics);
  expect(diagnostics.errors() == 0, "the model is sound");

  ovir::Options options;
  options.expected_runs = 100;
  auto session = ovir::compile(model, facts, options);
  expect(session.inputs().size() == 1 && session.outputs().size() == 1, "the model has one input and one output");
  const auto& input = session.inputs()[0];
  const auto shape = input.shape.to_shape();
  std::vector<float> pixels(static_cast<std::size_t>(shape.count()));
  std::iota(pixels.begin(), pixels.end(), 0.0F);
  auto tensor = ovir::Tensor::of<float>(ovir::ElementType::f32, shape, pixels);
  const auto results = session.run(std::map<std::string, ovir::Tensor>{{input.name, tensor}});
  expect(results.size() == 1 && results.contains(session.outputs()[0].name), "results go by name");
  const auto first = results.begin()->second;

  // One plan, sessions in several threads, a session that changes its thread.
  const auto plan = ovir::plan(model, facts, options);
  const auto runtime = std::make_shared<ovir::Runtime>();
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        ovir::Session own(runtime, plan);
        for (int i = 0; i < 5; ++i) expect(same(own.run(std::vector{tensor}).at(0), first), "sessions share a plan");
      });
  }
  std::jthread([&] { expect(same(session.run(std::vector{tensor}).at(0), first), "a session changes its thread"); });

  // Misuse.
  expect_throws(
      [&] {
        session.run(std::map<std::string, ovir::Tensor>{{"no such input", tensor}});
      },
      "an input of another name is refused");
  expect_throws([&] { session.run(std::vector<ovir::Tensor>{}); }, "an input that is missing is refused");
  expect_throws(
      [&] {
        session.run(std::vector{ovir::Tensor(ovir::ElementType::f32, {1, 2, 3, 4, 5, 6})});
      },
      "an input of another shape is refused");
  expect_throws([&] { session.run(std::vector{ovir::Tensor()}); }, "an empty tensor is refused");
  expect_throws(
      [&] {
        ovir::Tensor::of<double>(ovir::ElementType::f32, {2}, std::vector<double>{1, 2});
      },
      "a tensor of another element type is refused");
  ovir::Diagnostics missing;
  expect(!ovir::load("no such file.xml", {}, missing) && missing.errors() == 1, "a file that is missing is an error");

  // An operation of one's own.
  ovir::Diagnostics unknown, known;
  expect(!ovir::load(model_of_cube(), {}, unknown)->complete, "an operation that nobody defines is an error");
  const auto cubes = ovir::load(model_of_cube(), {}, known, kExtensions);
  const auto of_cubes = ovir::infer(*cubes, {}, known);
  expect(known.errors() == 0, "an extension is found");
  auto cubed = ovir::compile(cubes, of_cubes, options);
  const auto numbers = ovir::Tensor::of<float>(ovir::ElementType::f32, {2}, std::vector<float>{2, -3});
  const auto expected = ovir::Tensor::of<float>(ovir::ElementType::f32, {2}, std::vector<float>{8, -27});
  expect(same(cubed.run(std::vector{numbers}).at(0), expected), "an extension is computed");

  // A result is the caller's.
  auto mine = session.run(std::vector{tensor}).at(0);
  mine.mutable_bytes()[0] = std::byte{1};
  expect(same(session.run(std::vector{tensor}).at(0), first), "a result that is written to changes no later one");

  std::printf("%s: %d failures\n", std::string(ovir::version()).c_str(), failures);
  return failures == 0 ? 0 : 1;
}
