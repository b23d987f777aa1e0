// layout: a value stays blocked, and in a plan of such a precision in bf16 or u8,
// where the kernel that writes it and all that read it can. Kernels bring other operands into their own layout and type
// themselves, so no step is added. The bytes under another shape (a view) are stored alike: blocked ones of as many
// channels, if those who read them have no other shapes.
#include <algorithm>
#include <numeric>

#include "plan/passes.hpp"
#include "tensor/blocked.hpp"

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

/// Not of f32 where so few channels leave most of a block empty.
bool has_blocks(const PartialShape& shape, ElementType type) {
  constexpr i64 kFewChannels = 4;
  if (type != ElementType::f32) return shape.rank() >= 3 && shape.rank() <= 5;
  return shape.rank() >= 3 && shape.rank() <= 5 && !(shape[1].is_static() && shape[1].length() <= kFewChannels);
}

/// What a kernel keeps in one type cannot be stored so where a part of it cannot. Outputs of other types, as the
/// indices of a pool, are no part of it.
void keep_together(const Plan& plan, const Storage& how, const std::vector<int>& origin, std::vector<char>& can) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& step : plan.steps) {
      if (!step.kernel || !step.kernel->keeps(how.type)) continue;
      std::vector<int> together;
      for (int i = 0; i < std::ssize(step.inputs); ++i)
        if (reads(*step.kernel, i, how)) together.push_back(origin[step.inputs[i]]);
      std::ranges::copy_if(step.outputs, std::back_inserter(together),
                           [&](int id) { return plan.value(id).stored == ElementType::f32; });
      const auto can_be = [&](int id) { return can[id] != 0; };
      if (std::ranges::none_of(together, can_be) || std::ranges::all_of(together, can_be)) continue;
      for (const auto id : together) can[id] = 0;
      changed = true;
    }
  }
}

/// Views of views see the bytes that are blocked: the shapes between may have no blocks.
void join_views(Plan& plan, const std::vector<int>& origin) {
  std::vector<const Step*> writer(plan.values.size(), nullptr);
  for (auto& step : plan.steps) {
    for (const auto id : step.outputs) writer[id] = &step;
    const auto from = step.outputs.size() == 1 ? origin[step.outputs[0]] : -1;
    if (from < 0 || from == step.outputs[0] || step.inputs[0] == from || plan.value(from).layout == Layout::plain)
      continue;
    const auto& before = writer[step.inputs[0]]->nodes;
    step.nodes.insert(step.nodes.begin(), before.begin(), before.end());
    step.inputs = {from};
    step.operands = {plan.value(from).source};
  }
  remove_unread(plan);
}

}  // namespace

void layout(Plan& plan) {
  if (!plan.options.has("layout")) return;
  const auto count = plan.values.size();
  std::vector<char> open(count, 0), read(count, 0);
  std::vector<const Step*> writer(count, nullptr);
  std::vector<int> origin(count);  // by value: whose bytes it is
  std::iota(origin.begin(), origin.end(), 0);
  for (const auto& step : plan.steps) {
    if (passes_on(plan, step)) {
      origin[step.outputs[0]] = origin[step.inputs[0]];
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
      const bool fits = how.layout == Layout::plain || has_blocks(plan.values[id].shape, how.type);
      can[id] = open[id] && read[id] && fits && writes(*writer[id]->kernel, how);
    }
    for (const auto& step : plan.steps) {
      if (passes_on(plan, step)) continue;
      for (int i = 0; i < std::ssize(step.inputs); ++i) {
        const auto id = step.inputs[i], from = origin[id];
        const auto& shape = plan.value(id).shape;
        const bool fits = id == from || how.layout == Layout::plain ||
                          (same_blocks(plan.value(from).shape, shape) && has_blocks(shape, how.type));
        can[from] = can[from] && fits && step.kernel && is_settled(plan, step) && reads(*step.kernel, i, how);
      }
    }
    keep_together(plan, how, origin, can);
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
  join_views(plan, origin);
}

}  // namespace ovir::plan_passes
