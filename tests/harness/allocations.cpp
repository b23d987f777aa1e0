// Counts what a run allocates once a session has run before: nothing, for models of static shapes and planned kernels.
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <atomic>

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

Tensor weights(Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 31 % 101) / 101.0F - 0.5F;
  return floats(std::move(shape), values);
}

SmallModel elementwise() {
  SmallModel m;
  const auto x = m.graph.parameter("x", ElementType::f32, {8, 64});
  auto y = m.graph.add("add", "Add-1", {x, m.graph.constant("w", weights({64}))});
  y = m.graph.add("relu", "Relu-1", {y});
  y = m.graph.add("sigmoid", "Sigmoid-1", {y});
  m.graph.result("r", m.graph.add("multiply", "Multiply-1", {y, x}));
  return m;
}

SmallModel products() {
  SmallModel m;
  auto y = m.graph.parameter("x", ElementType::f32, {8, 64});
  for (const auto* name : {"a", "b", "c"}) {
    y = m.graph.add(name, "MatMul-1", {y, m.graph.constant("w", weights({64, 64}))});
    y = m.graph.add(std::string(name) + "_relu", "Relu-1", {y});
  }
  m.graph.result("r", y);
  return m;
}

/// The allocations of each of a few runs behind the first ones.
long steady_allocations(const Checked& c, const testing::Way& way) {
  auto session = testing::open(c.model, c.facts, way);
  const auto inputs = some_inputs(c);
  std::vector<Tensor> results;
  for (int i = 0; i < 4; ++i) session.run(inputs, results);
  const auto before = allocations.load();
  for (int i = 0; i < 10; ++i) session.run(inputs, results);
  return allocations.load() - before;
}

}  // namespace

int main() {
  const std::pair<const char*, SmallModel (*)()> models[] = {{"elementwise", elementwise}, {"products", products}};
  bool good = true;
  for (const auto& [name, make] : models) {
    const auto c = make().check();
    const auto count = steady_allocations(c, testing::kSteady);
    std::printf("%s: %ld allocations in 10 runs\n", name, count);
    good &= count == 0;
  }
  return good ? 0 : 1;
}
