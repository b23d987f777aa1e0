// SessionStates: the variables of a session, from one run to the next.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace ovir {

class ThreadPool;

/// The value of a variable. One to which runs append (plan/caches.cpp) has room behind its elements along an axis: its
/// tensor is no dense one, although all elements lie within its bytes.
struct State {
  Tensor tensor;
  i64 axis = -1;
  i64 room = 0;  ///< View::room; 0: the tensor is dense
};

/// The same elements as a tensor says of itself: a copy where there is room.
Tensor dense(const State& state, ThreadPool& pool);

/// `past` and behind it `added`, which has the same lengths beside the axis: in the same storage where that has the
/// room, otherwise in storage of its own with so much. Elements of `past` stay where and as they are.
State append(const State& past, const Tensor& added, i64 room, ThreadPool& pool);

/// A state may come from a file or from an Assign of any shape; the steps behind it were planned for the variable's.
void require_planned(const Value& variable, const Tensor& held);

/// A run may be taken back. What it replaces is storage for the next one, so that states of one shape take turns in two
/// places. A run that appends to a state leaves what was there in the same bytes.
class SessionStates {
 public:
  /// A run begins, has come to its end, or leaves all as it was.
  void begin() { before_ = current_; }
  void commit();
  void undo() { current_ = std::move(before_); }

  /// Null where the variable has no value.
  const State* find(std::string_view variable) const;
  /// Its value, from now on without room; empty where it has none.
  Tensor value(std::string_view variable, ThreadPool& pool);
  /// The same in storage of its own, while the state stays as it is.
  Tensor copy(std::string_view variable, ThreadPool& pool) const;
  /// Of these variables; {-1} where one has no value.
  void add_shapes(std::span<const std::string> variables, std::vector<Shape>& shapes) const;
  /// Whether a variable lies in the tensor's bytes.
  bool hold(const Tensor& tensor) const;

  /// The next value of a variable: a copy, unless the tensor's bytes may be kept.
  void assign(const std::string& variable, const Tensor& value);
  /// The same of what append() has made.
  void keep(const std::string& variable, State value) { current_[variable] = std::move(value); }

 private:
  std::map<std::string, State, std::less<>> current_, before_;
  std::map<std::string, Tensor, std::less<>> spare_;
};

}  // namespace ovir
