// What a step of a steady run costs beside its kernel: chains of small steps by a session, and their kernels called one
// after the other on the same views.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include "unit/small_model.hpp"

using namespace ovir;

namespace {

constexpr int kSteps = 1000, kRounds = 2000;

/// Nanoseconds a step, the least of all rounds.
template <class Round>
double measure(std::size_t steps, Round round) {
  auto best = std::chrono::nanoseconds::max();
  for (int i = 0; i < kRounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    round();
    best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - start);
  }
  return static_cast<double>(best.count()) / static_cast<double>(steps);
}

/// Kernels, with states and memory of their own.
class Kernels {
 public:
  Kernels(const Plan& plan, Runtime& runtime) : plan_(plan), runtime_(runtime) {
    for (const auto& step : plan.steps) {
      auto& bound = bound_.emplace_back();
      const auto view = [&](int id) {
        const auto& value = plan.value(id);
        const auto shape = value.shape.to_shape();
        auto& tensor = tensors_[id % 2];
        if (!tensor) tensor = Tensor(value.stored, shape);
        return View{value.stored, value.layout, tensor.view().dims, tensor.mutable_bytes()};
      };
      for (const auto id : step.inputs) bound.in.push_back(view(id));
      for (const auto id : step.outputs) bound.out.push_back(view(id));
      if (step.kernel) bound.state = step.kernel->prepare({bound.in, bound.out}, runtime);
    }
  }
  bool complete() const {
    return std::all_of(bound_.begin(), bound_.end(), [](const Bound& b) { return b.state && !b.state->scratch_bytes; });
  }
  void run() {
    for (std::size_t s = 0; s < bound_.size(); ++s)
      plan_.steps[s].kernel->run(*bound_[s].state, bound_[s].in, bound_[s].out, runtime_);
  }

 private:
  struct Bound {
    std::vector<View> in, out;
    std::unique_ptr<KernelState> state;
  };
  const Plan& plan_;
  Runtime& runtime_;
  std::array<Tensor, 2> tensors_;
  std::vector<Bound> bound_;
};

bool judge(const char* operation, const spec::AttributeTexts& attributes, int threads) {
  SmallModel m;
  auto x = m.graph.parameter("x", ElementType::f32, {1, 8});
  for (int i = 0; i < kSteps; ++i) x = m.graph.add("n" + std::to_string(i), operation, {x}, attributes);
  m.graph.result("y", x);
  const auto c = m.check();
  if (!c.model || c.diagnostics.errors() > 0) return false;
  Options options{.expected_runs = 1000, .without = {"fuse", "rows"}};
  options.runtime.threads = threads;
  const auto runtime = std::make_shared<Runtime>(options.runtime);
  const auto plan = ovir::plan(c.model, c.facts, options);
  Session session(runtime, plan);
  Kernels kernels(*plan, *runtime);
  if (!kernels.complete()) return false;
  const auto inputs = some_inputs(c);
  std::vector<Tensor> results;
  const auto steps = plan->steps.size();
  const auto whole = measure(steps, [&] { session.run(inputs, results); }),
             alone = measure(steps, [&] { kernels.run(); });
  std::printf("%s, %d threads, %zu steps: %.1f ns a step, %.1f ns its kernel, %.1f ns beside it\n", operation, threads,
              steps, whole, alone, whole - alone);
  return true;
}

}  // namespace

int main() {
  bool good = true;
  for (const int threads : {1, 2})
    for (const auto* operation : {"Softmax-8", "LogSoftmax-5"})
      good = judge(operation, {{"axis", "1"}}, threads) && good;
  return good ? 0 : 1;
}
