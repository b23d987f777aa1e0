// BlockPool: storage of intermediate tensors, handed out again when a tensor dies. Fresh pages are dear: the kernel
// clears each when it is first touched.
#pragma once
#include <memory>

#include "tensor/tensor.hpp"

namespace ovir {

class BlockPool {
 public:
  BlockPool();
  /// As Tensor(type, shape), in a block that an earlier tensor has left where one of about the size is free.
  Tensor allocate(ElementType type, Shape shape);
  /// A run of a plan begins. Blocks that were free during the last eight are given back when no other fits: lengths
  /// that grow from run to run leave none behind.
  void begin_run();
  /// Gives back what is free.
  void trim();

 private:
  struct Blocks;
  std::shared_ptr<Blocks> blocks_;
};

}  // namespace ovir
