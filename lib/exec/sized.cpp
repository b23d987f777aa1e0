#include "exec/sized.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "base/quantity.hpp"
#include "diag/diagnostic.hpp"
#include "exec/out_of_memory.hpp"
#include "exec/placement.hpp"
#include "exec/planned_work.hpp"
#include "exec/stored.hpp"
#include "op/work.hpp"
#include "tensor/copy.hpp"

namespace ovir {
namespace {

/// A step whose outputs' places can be settled before the run.
bool can_be_planned(const Plan& plan, const Step& step, const std::vector<std::optional<Shape>>& shapes,
                    bool recorded) {
  const auto known = [&](int id) {
    const auto& value = plan.value(id);
    return shapes[id] && value.stored != ElementType::dynamic && value.stored != ElementType::string;
  };
  if (!std::all_of(step.inputs.begin(), step.inputs.end(), known) ||
      !std::all_of(step.outputs.begin(), step.outputs.end(), known))
    return false;
  if (step.nodes.empty()) return true;
  const auto& node = plan.node(step);
  if (node.op->kind != Kind::compute || step.caching != Caching::none) return false;
  return !step.infers || (recorded && step.by_shapes);
}

}  // namespace

std::shared_ptr<std::byte> Arenas::take(i64 bytes) {
  if (bytes > bytes_) {
    last_ = allocate(bytes);
    bytes_ = bytes;
  }
  return last_;
}

Sized::Sized(const Plan& plan, std::vector<std::optional<Shape>> known, Runtime& runtime, Arenas& arenas, bool recorded)
    : shapes(std::move(known)),
      tensors(plan.values.size()),
      rooms(plan.values.size(), 0),
      fixed(plan.values.size(), 0),
      planned(plan.values.size(), 0),
      conversions(plan.parameters.size()),
      copies(plan.results.size()),
      steps(plan.steps.size()) {
  for (std::size_t id = 0; id < plan.values.size(); ++id) {
    const auto& value = plan.values[id];
    if (value.role != Role::constant || !value.constant) continue;
    tensors[id] = value.constant.borrowed();
    fixed[id] = 1;
  }
  prepare_kernels(plan, runtime, recorded);
  join_rows(plan, runtime.threads());
  place_values(plan, arenas);
  bind_kernels(plan);
  bind_references(plan);
  for (int s = 0; s < std::ssize(steps); ++s)
    if (steps[s].how == How::kernel || steps[s].how == How::reference)
      work = saturating_add(work, step_work(plan, plan.steps[s], steps[s].how == How::kernel));
  for (int id = 0; id < std::ssize(plan.values); ++id) {
    if (planned[id]) spare.emplace_back(id, Spare());
    if (!fixed[id]) moving.push_back(id);
  }
}

/// Says how every step is run. Values have no place yet; a kernel's views give types, layouts and shapes.
void Sized::prepare_kernels(const Plan& plan, Runtime& runtime, bool recorded) {
  std::size_t count = 0;
  for (const auto& step : plan.steps) count += step.inputs.size() + step.outputs.size();
  views.resize(count);  // never again: steps point into it
  auto* next = views.data();
  for (std::size_t s = 0; s < steps.size(); ++s) {
    auto& sized = steps[s];
    const auto& step = plan.steps[s];
    if (!can_be_planned(plan, step, shapes, recorded)) {
      all_planned = false;
      continue;
    }
    sized.how = How::reference;
    if (step.view) sized.how = How::view;
    if (step.view || !step.kernel) continue;
    const auto view = [&](int id, bool with_data) {
      const auto& value = plan.value(id);
      auto* data = with_data ? const_cast<std::byte*>(tensors[id].bytes()) : nullptr;
      *next++ = {value.stored, value.layout, *shapes[id], data};
    };
    sized.in = {next, step.inputs.size()};
    sized.out = {next + step.inputs.size(), step.outputs.size()};
    for (std::size_t i = 0; i < step.inputs.size(); ++i)
      view(step.inputs[i], fixed[step.inputs[i]] && !step.kernel->holds(static_cast<int>(i)));
    for (const auto id : step.outputs) view(id, false);
    if (step.written) sized.out[0].dims = *step.written;
    sized.state = prepare_for(*step.kernel, {sized.in, sized.out}, runtime);
    if (sized.state) {
      sized.how = How::kernel;
      continue;
    }
    // These sizes are not for the kernel: the reference kernels take its place. A constant that the kernel has
    // swallowed is not among the step's inputs.
    const bool whole = step.nodes.size() == 1 && step.inputs.size() == plan.node(step).inputs.size();
    const bool grown =
        std::any_of(step.inputs.begin(), step.inputs.end(), [&](int id) { return plan.value(id).grows >= 0; });
    if (whole && !grown) continue;
    sized.how = How::dynamic;
    all_planned = false;
  }
}

void Sized::place_values(const Plan& plan, Arenas& arenas) {
  std::vector<PlacedStep> placed;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto& sized = steps[s];
    const auto* kernel = sized.how == How::kernel ? plan.steps[s].kernel.get() : nullptr;
    placed.push_back({.planned = sized.how != How::dynamic,
                      .view = sized.how == How::view,
                      .kernel = kernel,
                      .sizes = {sized.in, sized.out},
                      .scratch_bytes = kernel ? sized.state->scratch_bytes : 0,
                      .first = sized.first,
                      .last = sized.end - 1});
    if (sized.how == How::kernel || sized.how == How::reference)
      for (const auto id : plan.steps[s].outputs) planned[id] = plan.value(id).result;
  }
  const auto placement = place(plan, placed, shapes);
  arena_bytes = placement.bytes;
  try {
    if (arena_bytes > 0) arena = arenas.take(arena_bytes);
  } catch (const std::bad_alloc& error) {
    throw out_of_memory(fmt::format("the intermediate tensors ({})", size_text(arena_bytes)), error);
  }
  for (std::size_t id = 0; id < plan.values.size(); ++id) {
    if (placement.offsets[id] < 0) continue;
    const auto& value = plan.values[id];
    const auto shape = stored_shape(value, *shapes[id]);
    tensors[id] = Tensor(value.stored, shape, arena, arena.get() + placement.offsets[id]).borrowed();
    fixed[id] = 1;
  }
  for (std::size_t s = 0; s < steps.size(); ++s) {
    steps[s].overwrites = placement.overwrites[s];
    if (placement.scratch[s] >= 0) steps[s].state->scratch = arena.get() + placement.scratch[s];
    if (steps[s].how != How::view) continue;
    const auto& step = plan.steps[s];
    if (!fixed[step.inputs[0]]) continue;
    pass_on(plan, step);
    fixed[step.outputs[0]] = 1;
  }
}

void Sized::pass_on(const Plan& plan, const Step& step) {
  const auto to = step.outputs[0];
  tensors[to] = tensors[step.inputs[0]].reshaped(stored_shape(plan.value(to), *shapes[to]));
}

void Sized::bind_kernels(const Plan& plan) {
  for (std::size_t s = 0; s < steps.size(); ++s) {
    auto& sized = steps[s];
    if (sized.how != How::kernel) continue;
    const auto& step = plan.steps[s];
    const auto bind = [&](View& view, int id) {
      if (fixed[id]) view.data = const_cast<std::byte*>(tensors[id].bytes());
      else sized.patches.push_back({&view, id});
    };
    for (std::size_t i = 0; i < sized.in.size(); ++i)
      if (!step.kernel->holds(static_cast<int>(i))) bind(sized.in[i], step.inputs[i]);
    for (std::size_t o = 0; o < sized.out.size(); ++o) bind(sized.out[o], step.outputs[o]);
  }
}

void Sized::bind_moved(const SizedStep& step) const {
  for (const auto& patch : step.patches) {
    patch.view->data = const_cast<std::byte*>(tensors[patch.value].bytes());
    patch.view->room = rooms[patch.value];
  }
}

void Sized::bind_references(const Plan& plan) {
  for (std::size_t s = 0; s < steps.size(); ++s) {
    auto& sized = steps[s];
    const auto& step = plan.steps[s];
    if (sized.how != How::reference) continue;
    const auto& node = plan.node(step);
    for (const auto id : step.inputs) sized.inputs.push_back(fixed[id] ? tensors[id] : Tensor());
    for (const auto id : step.outputs) {
      const auto& value = plan.value(id);
      sized.targets.push_back(fixed[id] ? tensors[id] : Tensor());
      sized.facts.push_back({value.declared, PartialShape(*shapes[id]), {}, nullptr});
      sized.stored.push_back(value.stored);
      sized.unwanted.push_back(value.reads == 0);
    }
    for (std::size_t i = 0; i < step.inputs.size(); ++i)
      if (!fixed[step.inputs[i]]) sized.moved.emplace_back(&sized.inputs[i], step.inputs[i]);
    for (std::size_t o = 0; o < step.outputs.size(); ++o)
      if (!fixed[step.outputs[o]]) sized.moved.emplace_back(&sized.targets[o], step.outputs[o]);
    sized.eval.emplace(*node.version, node.attrs.get(), sized.inputs, sized.facts, sized.stored);
    sized.eval->set_type(node.op->type);
    sized.eval->set_targets(sized.targets);
    sized.eval->set_unwanted(sized.unwanted);
  }
}

Tensor& Spare::renewed(ElementType type, const Shape& shape) {
  if (tensors_[0] && !tensors_[0].exclusive()) std::swap(tensors_[0], tensors_[1]);
  return renew(tensors_[0], type, shape);
}

Tensor Sized::converted(std::size_t parameter, const Tensor& given, ElementType stored, ThreadPool& pool) {
  auto& spare = conversions[parameter];
  renew(spare, stored, given.shape());
  convert_into(given, spare, pool);
  return spare.borrowed();
}

Tensor Sized::result(const Plan& plan, std::size_t k) {
  const auto id = plan.results[k];
  const auto value = tensors[id].unpacked();
  const bool given = std::any_of(plan.parameters.begin(), plan.parameters.end(), [&](int parameter) {
    return !fixed[id] && tensors[parameter].owner() == value.owner();
  });
  if ((!fixed[id] && !given) || value.type() == ElementType::string) return value.owned();
  auto& spare = copies[k].renewed(value.type(), value.shape());
  if (value.byte_size() > 0) std::copy_n(value.bytes(), value.byte_size(), spare.mutable_bytes());
  return spare;
}

}  // namespace ovir
