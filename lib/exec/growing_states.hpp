// GrowingStates: the steps that append to states in place of copying them, see plan/caches.cpp.
#pragma once
#include "exec/executor.hpp"

namespace ovir {

/// Of one run. Values between these steps may have room (Sized::rooms); who cannot read them so asks for them dense.
class GrowingStates {
 public:
  GrowingStates(const Plan& plan, Sized& sized, RunContext& context) : plan_(plan), sized_(sized), context_(context) {}

  /// Runs a step that is marked. False where it must run as any other, on dense values.
  bool run(const Step& step, i64& work);
  /// The value, from now on without room.
  const Tensor& make_dense(int id);

 private:
  State get(int id) const { return {sized_.tensors[id], plan_.value(id).grows, sized_.rooms[id]}; }
  void set(int id, State value);
  bool read(const Step& step);
  bool reorder(int from, const Tensor& indices, int to);
  bool append(int from, const Tensor& added, int to, i64& work);
  bool keep(const Step& step, int from);
  i64 room_for(const Shape& shape, i64 axis, ElementType type) const;

  const Plan& plan_;
  Sized& sized_;
  RunContext& context_;
};

}  // namespace ovir
