#include "exec/sized.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "base/checked.hpp"
#include "diag/diagnostic.hpp"

namespace ovir {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Elements that a blocked tensor of this shape takes, its padding included.
i64 blocked_count(Shape shape) {
  shape[1] = (shape[1] + kBlock - 1) / kBlock * kBlock;
  return shape.count();
}

/// A step whose outputs' places can be settled before the run.
bool can_be_planned(const Plan& plan, const Step& step, const std::vector<std::optional<Shape>>& shapes,
                    bool recorded) {
  const auto known = [&](int id) {
    const auto& value = plan.value(id);
    return shapes[at(id)] && value.stored != ElementType::dynamic && value.stored != ElementType::string;
  };
  if (!std::all_of(step.inputs.begin(), step.inputs.end(), known) ||
      !std::all_of(step.outputs.begin(), step.outputs.end(), known))
    return false;
  if (step.nodes.empty()) return true;
  const auto& node = plan.node(step);
  if (node.op->kind != Kind::compute || !node.bodies.empty()) return false;
  return !step.infers || (recorded && step.by_shapes);
}

}  // namespace

Sized::Sized(const Plan& plan, std::vector<std::optional<Shape>> known, Runtime& runtime, bool recorded)
    : shapes(std::move(known)),
      tensors(plan.values.size()),
      fixed(plan.values.size(), 0),
      planned(plan.values.size(), 0),
      steps(plan.steps.size()) {
  place(plan, recorded);
  prepare(plan, runtime);
  for (std::size_t id = 0; id < plan.values.size(); ++id) {
    if (planned[id]) spare.emplace_back(static_cast<int>(id), Tensor());
    if (!fixed[id]) moving.push_back(static_cast<int>(id));
  }
}

/// Says how every step is run, and puts the outputs of planned ones into the arena.
void Sized::place(const Plan& plan, bool recorded) {
  std::vector<int> root(plan.values.size());  // of a chain of views
  for (std::size_t id = 0; id < root.size(); ++id) {
    root[id] = static_cast<int>(id);
    const auto& value = plan.values[id];
    if (value.role != Role::constant || !value.constant) continue;
    tensors[id] = value.constant.borrowed();
    fixed[id] = 1;
  }
  std::vector<int> block_of(plan.values.size(), -1);
  std::vector<Block> blocks;
  std::vector<char> in_arena(plan.values.size(), 0);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const auto& step = plan.steps[s];
    if (!can_be_planned(plan, step, shapes, recorded)) {
      all_planned = false;
      continue;
    }
    steps[s].how = step.view ? How::view : step.kernel ? How::kernel : How::reference;
    for (const auto id : step.outputs) {
      if (step.view) {
        root[at(id)] = root[at(step.inputs[0])];
      } else if (plan.value(id).result) {
        planned[at(id)] = 1;
      } else {
        in_arena[at(id)] = 1;
        const auto type = plan.value(id).stored;
        const auto& shape = *shapes[at(id)];
        const auto count = plan.value(id).layout == Layout::plain ? shape.count() : blocked_count(shape);
        const auto bytes = checked_mul(count, byte_width(type));
        if (!bytes || *bytes > i64{1} << 60)
          fail(Code::E0003, "a tensor {}{} is too large", name(type), to_string(shape));
        block_of[at(id)] = static_cast<int>(blocks.size());
        blocks.push_back(
            {(static_cast<std::size_t>(*bytes) + 63) / 64 * 64, static_cast<int>(s), static_cast<int>(s), 0});
      }
    }
  }
  for (std::size_t s = 0; s < plan.steps.size(); ++s)
    for (const auto id : plan.steps[s].inputs)
      if (const auto b = block_of[at(root[at(id)])]; b >= 0) blocks[at(b)].end = static_cast<int>(s);
  for (const auto id : plan.results)
    if (const auto b = block_of[at(root[at(id)])]; b >= 0) blocks[at(b)].end = static_cast<int>(plan.steps.size());
  for (auto& block : blocks) block.size = std::max<std::size_t>(block.size, 64);
  arena_bytes = lay_out(blocks);
  try {
    if (arena_bytes > 0) arena = allocate(arena_bytes);
  } catch (const std::bad_alloc&) {
    fail(Code::E0003, "the intermediate tensors take {} bytes, which is more than there is{}", arena_bytes,
         MemoryBudget::current() ? fmt::format(" (the limit is {} bytes)", MemoryBudget::current()->limit()) : "");
  }
  for (std::size_t id = 0; id < plan.values.size(); ++id) {
    if (!in_arena[id]) continue;
    const auto* data = arena.get() + blocks[at(block_of[id])].offset;
    const auto& value = plan.values[id];
    tensors[id] = value.layout == Layout::plain
                      ? Tensor(value.stored, *shapes[id], arena, data).borrowed()
                      : Tensor(value.stored, {blocked_count(*shapes[id])}, arena, data).borrowed();
    fixed[id] = 1;
  }
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    if (steps[s].how != How::view) continue;
    const auto from = at(plan.steps[s].inputs[0]), to = at(plan.steps[s].outputs[0]);
    if (!fixed[from]) continue;
    tensors[to] = tensors[from].reshaped(*shapes[to]);
    fixed[to] = 1;
  }
}

void Sized::prepare(const Plan& plan, Runtime& runtime) {
  std::size_t count = 0;
  for (std::size_t s = 0; s < steps.size(); ++s)
    if (steps[s].how == How::kernel) count += plan.steps[s].inputs.size() + plan.steps[s].outputs.size();
  views.resize(count);  // never again: steps point into it
  std::size_t next = 0;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    auto& sized = steps[s];
    const auto& step = plan.steps[s];
    if (sized.how == How::kernel) {
      const auto view = [&](int id) {
        auto& v = views[next++];
        const auto& value = plan.value(id);
        v.type = value.stored;
        v.layout = value.layout;
        v.dims = *shapes[at(id)];
        if (fixed[at(id)]) v.data = const_cast<std::byte*>(tensors[at(id)].bytes());
        else sized.patches.push_back({&v, id});
      };
      const auto first = next;
      for (const auto id : step.inputs) view(id);
      for (const auto id : step.outputs) view(id);
      sized.in = {views.data() + first, step.inputs.size()};
      sized.out = {views.data() + first + step.inputs.size(), step.outputs.size()};
      sized.state = step.kernel->prepare({sized.in, sized.out}, runtime);
      if (sized.state) continue;
      // These sizes are not for the kernel: the reference kernels take its place.
      sized.patches.clear();
      // A constant that the kernel has swallowed is not among the step's inputs.
      const bool whole = step.nodes.size() == 1 && step.inputs.size() == plan.node(step).inputs.size();
      sized.how = whole ? How::reference : How::dynamic;
    }
    if (sized.how != How::reference) continue;
    const auto& node = plan.node(step);
    for (const auto id : step.inputs) sized.inputs.push_back(fixed[at(id)] ? tensors[at(id)] : Tensor());
    for (const auto id : step.outputs) {
      const auto& value = plan.value(id);
      sized.targets.push_back(fixed[at(id)] ? tensors[at(id)] : Tensor());
      sized.facts.push_back({value.declared, PartialShape(*shapes[at(id)]), {}, nullptr});
      sized.stored.push_back(value.stored);
      sized.unwanted.push_back(value.reads == 0);
    }
    for (std::size_t i = 0; i < step.inputs.size(); ++i)
      if (!fixed[at(step.inputs[i])]) sized.moved.emplace_back(&sized.inputs[i], step.inputs[i]);
    for (std::size_t o = 0; o < step.outputs.size(); ++o)
      if (!fixed[at(step.outputs[o])]) sized.moved.emplace_back(&sized.targets[o], step.outputs[o]);
    sized.eval.emplace(*node.version, node.attrs.get(), sized.inputs, sized.facts, sized.stored);
    sized.eval->set_type(node.op->type);
    sized.eval->set_targets(sized.targets);
    sized.eval->set_unwanted(sized.unwanted);
  }
}

}  // namespace ovir
