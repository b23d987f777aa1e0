// BlockPool: storage of intermediate tensors, handed out again when a tensor dies. Fresh pages are dear: the kernel
// clears each when it is first touched.
#pragma once
#include <cstdint>
#include <memory>

#include "tensor/tensor.hpp"

namespace ovir {

class BlockPool {
 public:
  /// Counts the runs of a plan.
  using Runs = std::shared_ptr<std::uint64_t>;

  BlockPool();
  /// As Tensor(type, shape), in a block that an earlier tensor has left where one of about the size is free.
  Tensor allocate(ElementType type, Shape shape, const Runs& runs);
  /// A run of the plan begins. Its blocks that were free during its last eight are given back when no other fits:
  /// lengths that grow from run to run leave none behind, and a loop's turns are none of the model's.
  void begin_run(const Runs& runs);
  /// Gives back what is free.
  void trim();

 private:
  struct Blocks;
  std::shared_ptr<Blocks> blocks_;
};

}  // namespace ovir
