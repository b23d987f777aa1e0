// precision: what the bytes of every value are. With Precision::f32, floats narrower than f32 are storage only: values
// between steps are f32, and constants are converted.
#include <algorithm>
#include <utility>

#include "base/half.hpp"
#include "plan/passes.hpp"

namespace ovir::plan_passes {
namespace {

/// Constants of up to this many elements are converted while planning, others when somebody asks for them or, in a
/// single run, when it comes to them.
constexpr i64 kSmall = 16384;

/// Elements of f16 or bf16 as f32.
class Widen final : public Kernel {
 public:
  std::string name() const override { return "convert to f32"; }
  std::unique_ptr<KernelState> prepare(const Sizes&, Runtime&) const override {
    return std::make_unique<KernelState>();
  }
  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    constexpr i64 kChunk = 65536;
    const auto n = out[0].size();
    const auto half = in[0].type == ElementType::f16;
    runtime.parallel((n + kChunk - 1) / kChunk, [&](i64 chunk) {
      const auto begin = chunk * kChunk, count = std::min(kChunk, n - begin);
      auto* to = reinterpret_cast<float*>(out[0].data) + begin;
      if (half) to_f32(reinterpret_cast<const f16*>(in[0].data) + begin, to, count);
      else to_f32(reinterpret_cast<const bf16*>(in[0].data) + begin, to, count);
    });
  }
};

}  // namespace

void precision(Plan& plan) {
  if (plan.options.precision == Precision::declared) return;
  const auto count = plan.values.size();
  std::vector<Step> conversions;
  for (std::size_t id = 0; id < count; ++id) {
    if (!is_narrow(plan.values[id].declared)) continue;
    if (plan.values[id].role != Role::constant || !plan.values[id].constant) {
      plan.values[id].stored = ElementType::f32;
      continue;
    }
    auto& constant = plan.values[id];
    if (constant.constant.size() <= kSmall) {
      constant.constant = convert(constant.constant, ElementType::f32);
      constant.stored = ElementType::f32;
      continue;
    }
    Value wide = constant;
    wide.stored = ElementType::f32;
    wide.narrow = static_cast<int>(id);
    // Kernels of lower precision hold their weights, in a single run too. Those of 4 or 8 bits are mostly read as they
    // are.
    const bool planned =
        plan.options.steady() || plan.options.precision != Precision::f32 || !is_half(constant.declared);
    wide.role = planned ? Role::constant : Role::intermediate;
    wide.constant = planned ? Tensor::widened(constant.constant) : Tensor();
    const auto source = constant.source;
    const int made = static_cast<int>(plan.values.size());
    plan.values.push_back(std::move(wide));
    plan.value_of[source.node][source.port] = made;
    if (planned) continue;
    Step step;
    step.inputs = {static_cast<int>(id)};
    step.operands = {source};
    step.outputs = {made};
    step.kernel = std::make_unique<Widen>();
    conversions.push_back(std::move(step));
  }
  for (auto& step : plan.steps)
    for (std::size_t i = 0; i < step.inputs.size(); ++i) step.inputs[i] = value_of(plan, step.operands[i]);
  for (std::size_t k = 0; k < plan.results.size(); ++k)
    plan.results[k] = value_of(plan, (*plan.model)[plan.model->results[k]].inputs.at(0));
  // Each conversion just before the first step that reads it: its result lives no longer than it must.
  std::vector<Step> steps;
  std::vector<int> conversion_of(plan.values.size(), -1);
  for (int c = 0; c < std::ssize(conversions); ++c) conversion_of[conversions[c].outputs[0]] = c;
  const auto need = [&](int value) {
    auto& c = conversion_of[value];
    if (c >= 0) steps.push_back(std::move(conversions[std::exchange(c, -1)]));
  };
  for (auto& step : plan.steps) {
    for (const auto id : step.inputs) need(id);
    steps.push_back(std::move(step));
  }
  for (const auto id : plan.results) need(id);
  plan.steps = std::move(steps);
}

}  // namespace ovir::plan_passes
