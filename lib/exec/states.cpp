#include "exec/states.hpp"

#include <algorithm>
#include <cstring>

#include "base/thread_pool.hpp"
#include "diag/diagnostic.hpp"
#include "tensor/copy.hpp"

namespace ovir {
namespace {

i64 length_in_memory(const State& s) { return s.room > 0 ? s.room : s.tensor.dim(s.axis); }

/// Copies all elements of `from` to `to`, behind the first `at` along the axis.
void copy_behind(State& to, i64 at, const State& from, ThreadPool& pool) {
  const auto& tensor = from.tensor;
  i64 outer = 1, inner = byte_width(tensor.type());
  for (i64 i = 0; i < tensor.rank(); ++i)
    if (i != from.axis) (i < from.axis ? outer : inner) *= tensor.dim(i);
  const auto run = tensor.dim(from.axis) * inner;
  if (run == 0 || outer == 0) return;
  const auto step = length_in_memory(from) * inner, to_step = length_in_memory(to) * inner;
  auto* const first = to.tensor.mutable_bytes() + at * inner;
  constexpr i64 kWorthThreads = 1 << 18;
  const auto parts = run * outer < kWorthThreads ? 1 : std::min<i64>(outer, pool.threads());
  const auto copy = [&](i64 part) {
    for (auto i = outer * part / parts; i < outer * (part + 1) / parts; ++i)
      std::memcpy(first + i * to_step, tensor.bytes() + i * step, run);
  };
  if (parts == 1) copy(0);
  else pool.run(parts, copy);
}

}  // namespace

Tensor dense(const State& state, ThreadPool& pool) {
  if (state.room == 0) return state.tensor;
  State copy{Tensor(state.tensor.type(), state.tensor.shape()), state.axis};
  copy_behind(copy, 0, state, pool);
  return copy.tensor;
}

State append(const State& past, const Tensor& added, i64 room, ThreadPool& pool) {
  auto shape = past.tensor.shape();
  const auto length = shape[past.axis];
  shape[past.axis] += added.dim(past.axis);
  auto whole = past;
  if (past.room == 0 || shape[past.axis] > past.room) {
    auto all = shape;
    all[past.axis] = room;
    whole = {Tensor(past.tensor.type(), std::move(all)), past.axis, room};
    copy_behind(whole, 0, past, pool);
  }
  copy_behind(whole, length, {added, past.axis}, pool);
  whole.tensor = Tensor::adopt(past.tensor.type(), std::move(shape), whole.tensor.owner(), whole.tensor.bytes());
  return whole;
}

void require_planned(const Value& variable, const Tensor& held) {
  if (variable.stored != ElementType::dynamic && held.type() != variable.stored)
    fail(Code::E0503, "the state must be {} as its variable is, but is {}", name(variable.declared), name(held.type()));
  if (!variable.shape.contains(held.shape()))
    fail(Code::E0505, "the state must have shape {} as its variable has, but its shape is {}",
         to_string(variable.shape), to_string(held.shape()));
}

void SessionStates::commit() {
  for (auto& [name, state] : before_) state = {};
}

const State* SessionStates::find(std::string_view variable) const {
  const auto held = current_.find(variable);
  return held == current_.end() || !held->second.tensor ? nullptr : &held->second;
}

Tensor SessionStates::value(std::string_view variable, ThreadPool& pool) {
  const auto held = current_.find(variable);
  if (held == current_.end()) return {};
  auto& state = held->second;
  if (state.room > 0) state = {dense(state, pool)};
  return state.tensor;
}

Tensor SessionStates::copy(std::string_view variable, ThreadPool& pool) const {
  const auto* state = find(variable);
  if (!state) return {};
  return state->room > 0 ? dense(*state, pool) : state->tensor.copied();
}

void SessionStates::add_shapes(std::span<const std::string> variables, std::vector<Shape>& shapes) const {
  for (const auto& name : variables) {
    const auto* state = find(name);
    shapes.push_back(state ? state->tensor.shape() : Shape{-1});
  }
}

bool SessionStates::hold(const Tensor& tensor) const {
  return std::any_of(current_.begin(), current_.end(),
                     [&](const auto& state) { return state.second.tensor.owner() == tensor.owner(); });
}

void SessionStates::assign(const std::string& variable, const Tensor& value) {
  auto& [state, axis, room] = current_[variable];
  const bool is_alike = room == 0 && state && state.type() == value.type() && state.shape() == value.shape();
  if (is_alike && state.bytes() == value.bytes() && state.owner() == value.owner()) return;  // what ReadValue gave
  auto& spare = spare_[variable];
  const bool takes_turns = is_alike && value.type() != ElementType::string && !value.packed();
  if (!takes_turns) {  // one that grows leaves nothing behind
    spare = Tensor();
    state = value.owned();
    room = 0;
    return;
  }
  renew(spare, value.type(), value.shape());
  if (value.byte_size() > 0) std::memcpy(spare.mutable_bytes(), value.bytes(), value.byte_size());
  std::swap(state, spare);
}

}  // namespace ovir
