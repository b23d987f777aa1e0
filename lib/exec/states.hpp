// SessionStates: the variables of a session, from one run to the next.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "op/eval_context.hpp"

namespace ovir {

class ThreadPool;

/// How long a tensor is in memory along one axis, see KernelState::room; 0: as its shape says.
struct Room {
  i64 axis = -1, length = 0;
};

/// Copies the elements of `from`, which has room or has none, to the beginning of `to`, which may have room along the
/// same axis, behind the first `at` along it. Both have the same lengths along the other axes.
void copy_grown(const Tensor& from, i64 from_room, Tensor& to, i64 to_room, i64 axis, i64 at, ThreadPool& pool);

/// A run may be taken back. What it replaces is storage for the next one, so that states of one shape take turns in two
/// places. A state that grows has room: a run appends behind what is there, which stays, so that the state before is
/// still in the same bytes.
class SessionStates {
 public:
  /// A run begins, has come to its end, or leaves all as it was.
  void begin() {
    before_ = current_;
    rooms_before_ = rooms_;
  }
  void commit();
  void undo() {
    current_ = std::move(before_);
    rooms_ = std::move(rooms_before_);
  }

  /// All variables, none with room.
  const States& plain();
  /// The value of a variable, perhaps with room; null where it has none.
  const Tensor* find(std::string_view variable, Room& room) const;
  /// A copy of it; empty where it has none.
  Tensor copy(std::string_view variable) const;
  /// For every variable that has a value.
  void add_shapes(std::vector<Shape>& shapes) const;
  /// Whether some variable lies in the same bytes.
  bool hold(const Tensor& value) const;

  /// The next value of a variable: a copy, unless the tensor's bytes may be kept.
  void assign(const std::string& variable, const Tensor& value);
  /// The same for one that has room.
  void keep(const std::string& variable, const Tensor& value, Room room);

 private:
  using Rooms = std::map<std::string, Room, std::less<>>;
  static Tensor without_room(const Tensor& value, const Room& room);

  States current_, before_, spare_;
  Rooms rooms_, rooms_before_;
};

}  // namespace ovir
