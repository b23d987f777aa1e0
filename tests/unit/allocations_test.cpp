// A steady run of a static model allocates nothing: what it needs was placed and prepared before.
#include <atomic>
#include <cstdlib>
#include <new>

#include "catch.hpp"
#include "small_model.hpp"

using namespace ovir;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OVIR_SANITIZED 1
#endif

#ifndef OVIR_SANITIZED
namespace {
std::atomic<long> g_allocations{0};

void* counted(std::size_t size, std::size_t alignment) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  void* p = alignment <= alignof(std::max_align_t)
                ? std::malloc(size)
                : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (!p) throw std::bad_alloc();
  return p;
}
}  // namespace

void* operator new(std::size_t size) { return counted(size, 1); }
void* operator new[](std::size_t size) { return counted(size, 1); }
void* operator new(std::size_t size, std::align_val_t a) { return counted(size, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t size, std::align_val_t a) { return counted(size, static_cast<std::size_t>(a)); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace {

/// Of the fourth run: the first ones place, prepare and leave their results.
long allocations_of_a_steady_run(const SmallModel& m, int threads) {
  auto c = m.check();
  REQUIRE(c.diagnostics.all().empty());
  Options options;
  options.expected_runs = 100;
  options.runtime.threads = threads;
  auto session = compile(c.model, c.facts, options);
  const auto inputs = some_inputs(c);
  std::vector<Tensor> results;
  for (int i = 0; i < 3; ++i) session.run(inputs, results);
  const auto before = g_allocations.load();
  session.run(inputs, results);
  return g_allocations.load() - before;
}

int constant(SmallModel& m, const std::string& name, const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13) / 13.0F - 0.5F;
  return m.graph.constant(name, floats(shape, values));
}

/// 3x3, stride 1, and a bias and an activation.
int convolution(SmallModel& m, const std::string& name, int from, i64 in, i64 out) {
  const auto filters = constant(m, name + "/filters", {out, in, 3, 3});
  const auto x = m.graph.add(name, "Convolution-1", {from, filters},
                             {{"strides", "1,1"}, {"dilations", "1,1"}, {"pads_begin", "1,1"}, {"pads_end", "1,1"}});
  return m.graph.add(name + "/relu", "Relu-1",
                     {m.graph.add(name + "/sum", "Add-1", {x, constant(m, name + "/bias", {1, out, 1, 1})})});
}

}  // namespace

TEST_CASE("a steady run of convolutions allocates nothing") {
  SmallModel m;
  auto x = m.graph.parameter("x", ElementType::f32, {1, 3, 20, 20});
  x = convolution(m, "a", x, 3, 32);
  const auto b = convolution(m, "b", x, 32, 32);
  x = m.graph.add("sum", "Add-1", {x, b});
  x = convolution(m, "c", x, 32, 40);
  m.graph.result("y", x);
  for (const int threads : {1, 2}) CHECK(allocations_of_a_steady_run(m, threads) == 0);
}

TEST_CASE("a steady run of products and functions allocates nothing") {
  SmallModel m;
  auto x = m.graph.parameter("x", ElementType::f32, {8, 64});
  x = m.graph.add("a", "MatMul-1", {x, constant(m, "w", {64, 48})});
  x = m.graph.add("soft", "Softmax-8", {x}, {{"axis", "-1"}});
  x = m.graph.add("cat", "Concat-1", {x, m.graph.add("tanh", "Tanh-1", {x})}, {{"axis", "1"}});
  x = m.graph.add("b", "MatMul-1", {x, constant(m, "v", {96, 16})});
  m.graph.result("y", m.graph.add("sigmoid", "Sigmoid-1", {x}));
  for (const int threads : {1, 2}) CHECK(allocations_of_a_steady_run(m, threads) == 0);
}

TEST_CASE("a steady run of reference kernels allocates nothing but what they do themselves") {
  SmallModel m;
  auto x = m.graph.parameter("x", ElementType::i32, {8, 64});
  for (const auto* name : {"a", "b", "c"}) x = m.graph.add(name, "Negative-1", {x});
  m.graph.result("y", x);
  CHECK(allocations_of_a_steady_run(m, 1) == 0);
}
#endif
