#include "exec/watcher.hpp"

#include "exec/planned_work.hpp"
#include "exec/stored.hpp"
#include "op/work.hpp"

namespace ovir {

using std::chrono::nanoseconds;

void Watcher::announce(int index, std::span<const Tensor> in, std::string_view kernel) {
  if (!side_.wants(index)) return;
  const auto declared = declared_types(index);
  const Event event{*plan_.model, index, (*plan_.model)[index], iterations_, in, {}, declared, kernel, nanoseconds(0)};
  if (context_.observer->before(event) == Verdict::stop) throw StoppedByObserver{};
}

void Watcher::tell(int index, std::span<const Tensor> in, std::span<Tensor> out, std::string_view kernel,
                   nanoseconds took) {
  if (!side_.wants(index)) return;
  spend(kStepsOfAnEvent);
  const auto declared = declared_types(index);
  Event event{*plan_.model, index, (*plan_.model)[index], iterations_, in, out, declared, kernel, took};
  if (context_.observer->after(event) == Verdict::stop) throw StoppedByObserver{};
}

std::vector<ElementType> Watcher::declared_types(int index) const {
  std::vector<ElementType> declared;
  for (const auto& fact : plan_.facts->outputs[index]) declared.push_back(fact.type);
  return declared;
}

void Watcher::come(int value, const Tensor& tensor) {
  side_.come(value, tensor, [this](int index, std::span<const Tensor> in, std::span<Tensor> out) {
    tell(index, in, out, "reference", nanoseconds(0));
  });
}

void Watcher::begin() {
  side_.begin();
  for (int id = 0; id < std::ssize(plan_.values); ++id) {
    const auto& value = plan_.values[id];
    // A single run widens a Constant when it comes to it, or not at all where kernels read it as it is.
    const bool widens = value.role == Role::intermediate && value.narrow >= 0;
    if ((value.role == Role::intermediate && !widens) || value.source.node < 0) continue;
    const auto& node = (*plan_.model)[value.source.node];
    const bool constant = node.op->kind != Kind::compute;
    if (constant && value.narrow < 0) {
      // A Constant as the file has it, once, whether or not a step reads it.
      auto tensor = (value.role == Role::constant ? node.constant : sized_.tensors[id]).unpacked();
      if (tensor) tell(value.source.node, {}, {&tensor, 1}, "", nanoseconds(0));
    }
    if (!needs(id)) continue;
    const bool in_file = widens || (constant && !sized_.tensors[id]);  // folding may have dropped it
    if (const auto& known = in_file ? node.constant : sized_.tensors[id])
      come(id, widened_as_declared(value, known.unpacked()));
  }
}

void Watcher::end() {
  for (std::size_t k = 0; k < plan_.results.size(); ++k) {
    auto tensor = sized_.tensors[plan_.results[k]].unpacked();
    tell(plan_.model->results[k], {&tensor, 1}, {&tensor, 1}, "", nanoseconds(0));
  }
}

}  // namespace ovir
