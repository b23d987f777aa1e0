// layout: a value stays blocked, and in a plan of such a precision in bf16 or u8,
// where the kernel that writes it and all that read it can. Kernels bring other operands into their own layout and type
// themselves, so no step is added. The bytes under another shape (a view) are stored alike.
#include <algorithm>
#include <numeric>

#include "plan/passes.hpp"

namespace ovir::plan_passes {
namespace {

/// What is settled before the run: kernels of such steps never give way to reference kernels, which read plain values.
/// They do where a length is 0; see prepare_for().
bool is_settled(const Plan& plan, const Step& step) {
  const auto settled = [&](int id) {
    const auto& shape = plan.value(id).shape;
    return shape.is_static() && std::ranges::none_of(shape, [](const Dim& dim) { return dim.max == 0; });
  };
  return std::all_of(step.inputs.begin(), step.inputs.end(), settled) &&
         std::all_of(step.outputs.begin(), step.outputs.end(), settled);
}

struct Storage {
  ElementType type;
  Layout layout;
};

bool reads(const Kernel& kernel, int input, const Storage& how) {
  return how.type == ElementType::f32 ? kernel.reads(input, how.layout) : kernel.reads_as(input, how.type, how.layout);
}
bool writes(const Kernel& kernel, const Storage& how) {
  return how.type == ElementType::f32 ? kernel.writes(how.layout) : kernel.writes_as(how.type, how.layout);
}

/// How values may be stored other than plainly in f32, the best first.
std::span<const Storage> candidates(Precision precision) {
  static constexpr Storage kAll[] = {{ElementType::f32, Layout::blocked}, {ElementType::bf16, Layout::blocked},
                                     {ElementType::bf16, Layout::plain},  {ElementType::f32, Layout::blocked},
                                     {ElementType::u8, Layout::blocked},  {ElementType::u8, Layout::plain},
                                     {ElementType::f32, Layout::blocked}};
  const std::span all(kAll);
  if (precision == Precision::bf16) return all.subspan(1, 3);
  return precision == Precision::int8 ? all.subspan(4, 3) : all.first(1);
}

}  // namespace

void layout(Plan& plan) {
  if (!plan.options.has("layout")) return;
  const auto count = plan.values.size();
  std::vector<char> open(count, 0), read(count, 0), viewed(count, 0);
  std::vector<const Step*> writer(count, nullptr);
  std::vector<int> origin(count);  // by value: whose bytes it is
  std::iota(origin.begin(), origin.end(), 0);
  for (const auto& step : plan.steps) {
    if (passes_on(plan, step)) {
      const auto from = origin[step.inputs[0]];
      origin[step.outputs[0]] = from;
      viewed[from] = 1;
      continue;
    }
    for (const auto id : step.inputs) read[origin[id]] = 1;
    if (!step.kernel || !is_settled(plan, step)) continue;
    for (const auto id : step.outputs) {
      open[id] = plan.value(id).stored == ElementType::f32;
      writer[id] = &step;
    }
  }
  for (const auto id : plan.results) open[origin[id]] = 0;
  for (const auto& how : candidates(plan.options.precision)) {
    std::vector<char> can(count, 0);
    for (std::size_t id = 0; id < count; ++id) {
      const auto rank = plan.values[id].shape.rank();
      const bool has_blocks = rank >= 3 && rank <= (how.type == ElementType::f32 ? 5 : 4);
      can[id] = open[id] && read[id] && (how.layout == Layout::plain || (!viewed[id] && has_blocks)) &&
                writes(*writer[id]->kernel, how);
    }
    for (const auto& step : plan.steps) {
      if (passes_on(plan, step)) continue;
      for (int i = 0; i < std::ssize(step.inputs); ++i) {
        auto& one = can[origin[step.inputs[i]]];
        one = one && step.kernel && is_settled(plan, step) && reads(*step.kernel, i, how);
      }
    }
    for (std::size_t id = 0; id < count; ++id) {
      const auto from = origin[id];
      if (!can[from]) continue;
      open[from] = 0;
      auto& value = plan.values[id];
      value.stored = how.type;
      value.layout = how.layout;
      if (how.type == ElementType::u8) value.quantization = writer[from]->kernel->quantization();
    }
  }
}

}  // namespace ovir::plan_passes
