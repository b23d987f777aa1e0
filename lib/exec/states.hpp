// SessionStates: the variables of a session, from one run to the next.
#pragma once
#include <string>

#include "op/eval_context.hpp"

namespace ovir {

/// A run may be taken back. What it replaces is storage for the next one, so that states of one shape take turns in two
/// places.
class SessionStates {
 public:
  States current;

  /// A run begins, has come to its end, or leaves all as it was.
  void begin() { before_ = current; }
  void commit();
  void undo() { current = std::move(before_); }

  /// The next value of a variable: a copy, unless the tensor's bytes may be kept.
  void assign(const std::string& variable, const Tensor& value);

 private:
  States before_, spare_;
};

}  // namespace ovir
