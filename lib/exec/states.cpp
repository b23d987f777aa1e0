#include "exec/states.hpp"

#include <algorithm>
#include <cstring>

#include "base/thread_pool.hpp"
#include "tensor/copy.hpp"

namespace ovir {

void copy_grown(const Tensor& from, i64 from_room, Tensor& to, i64 to_room, i64 axis, i64 at, ThreadPool& pool) {
  i64 outer = 1, inner = byte_width(from.type());
  for (i64 i = 0; i < axis; ++i) outer *= from.dim(i);
  for (i64 i = axis + 1; i < from.rank(); ++i) inner *= from.dim(i);
  const auto run = from.dim(axis) * inner, step = (from_room > 0 ? from_room : from.dim(axis)) * inner,
             to_step = (to_room > 0 ? to_room : to.dim(axis)) * inner;
  if (run == 0 || outer == 0) return;
  auto* const first = to.mutable_bytes() + at * inner;
  const auto copy = [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) std::memcpy(first + i * to_step, from.bytes() + i * step, run);
  };
  constexpr i64 kWorthThreads = 1 << 18;
  const auto parts = run * outer < kWorthThreads ? 1 : std::min<i64>(outer, pool.threads());
  if (parts == 1) return copy(0, outer);
  pool.run(parts, [&](i64 part) { copy(outer * part / parts, outer * (part + 1) / parts); });
}

Tensor SessionStates::without_room(const Tensor& value, const Room& room) {
  Tensor plain(value.type(), value.shape());
  ThreadPool alone(1);
  copy_grown(value, room.length, plain, 0, room.axis, 0, alone);
  return plain;
}

void SessionStates::commit() {
  for (auto& [name, state] : before_) state = Tensor();
}

const States& SessionStates::plain() {
  for (auto& [name, room] : rooms_) {
    if (room.length == 0) continue;
    auto& state = current_.find(name)->second;
    state = without_room(state, room);
    room = {};
  }
  return current_;
}

const Tensor* SessionStates::find(std::string_view variable, Room& room) const {
  const auto held = current_.find(variable);
  if (held == current_.end() || !held->second) return nullptr;
  const auto known = rooms_.find(variable);
  room = known == rooms_.end() ? Room{} : known->second;
  return &held->second;
}

Tensor SessionStates::copy(std::string_view variable) const {
  Room room;
  const auto* held = find(variable, room);
  if (!held) return {};
  return room.length > 0 ? without_room(*held, room) : held->copied();
}

void SessionStates::add_shapes(std::vector<Shape>& shapes) const {
  for (const auto& [name, state] : current_) shapes.push_back(state.shape());
}

bool SessionStates::hold(const Tensor& value) const {
  return std::any_of(current_.begin(), current_.end(),
                     [&](const auto& state) { return state.second.owner() == value.owner(); });
}

void SessionStates::assign(const std::string& variable, const Tensor& value) {
  if (const auto room = rooms_.find(variable); room != rooms_.end()) room->second = {};
  auto &state = current_[variable], &spare = spare_[variable];
  const bool takes_turns = state && state.type() == value.type() && state.shape() == value.shape() &&
                           value.type() != ElementType::string && !value.packed();
  if (!takes_turns) {  // one that grows leaves nothing behind
    spare = Tensor();
    state = value.owned();
    return;
  }
  renew(spare, value.type(), value.shape());
  if (value.byte_size() > 0) std::memcpy(spare.mutable_bytes(), value.bytes(), value.byte_size());
  std::swap(state, spare);
}

void SessionStates::keep(const std::string& variable, const Tensor& value, Room room) {
  current_[variable] = value;
  rooms_[variable] = room;
}

}  // namespace ovir
