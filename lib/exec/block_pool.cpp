#include "exec/block_pool.hpp"

#include <map>
#include <mutex>

#include "base/bytes.hpp"

namespace ovir {

struct BlockPool::Blocks {
  std::mutex mutex;
  std::multimap<std::size_t, std::shared_ptr<std::byte>> free;
};

BlockPool::BlockPool() : blocks_(std::make_shared<Blocks>()) {}

Tensor BlockPool::allocate(ElementType type, Shape shape) {
  constexpr std::size_t kWorthKeeping = 16384;
  const auto bytes = static_cast<std::size_t>(shape.count()) * static_cast<std::size_t>(byte_width(type));
  if (type == ElementType::string || bytes < kWorthKeeping) return Tensor(type, std::move(shape));
  std::shared_ptr<std::byte> block;
  std::size_t size = 0;
  {
    const std::lock_guard lock(blocks_->mutex);
    if (const auto fit = blocks_->free.lower_bound(bytes); fit != blocks_->free.end() && fit->first / 2 <= bytes) {
      size = fit->first;
      block = std::move(fit->second);
      blocks_->free.erase(fit);
    }
  }
  if (!block) {
    Tensor fresh(type, shape);  // checks the size
    size = bytes;
    block = std::shared_ptr<std::byte>(std::const_pointer_cast<void>(fresh.owner()), fresh.mutable_bytes());
  }
  auto* data = block.get();
  // The last user gives the block back, unless the pool itself is gone.
  const std::shared_ptr<const void> owner(
      data, [block = std::move(block), size, pool = std::weak_ptr(blocks_)](const void*) mutable {
        if (const auto blocks = pool.lock()) {
          const std::lock_guard lock(blocks->mutex);
          blocks->free.emplace(size, std::move(block));
        }
      });
  return Tensor::adopt(type, std::move(shape), owner, data);
}

}  // namespace ovir
