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

 private:
  struct Blocks;
  std::shared_ptr<Blocks> blocks_;
};

}  // namespace ovir
