#include "exec/block_pool.hpp"

#include <map>
#include <mutex>

#include "base/bytes.hpp"
#include "base/checked.hpp"

namespace ovir {

struct BlockPool::Blocks {
  struct Free {
    std::shared_ptr<std::byte> bytes;
    std::uint64_t since = 0;  // the run in which it became free
  };

  std::mutex mutex;
  std::multimap<std::size_t, Free> free;  // by size
  std::uint64_t run = 0;

  /// One of about the size, and its size; null where there is none.
  std::pair<std::shared_ptr<std::byte>, std::size_t> take(std::size_t bytes) {
    constexpr std::uint64_t kKept = 8;
    const std::lock_guard lock(mutex);
    if (const auto fit = free.lower_bound(bytes); fit != free.end() && fit->first / 2 <= bytes) {
      auto node = free.extract(fit);
      return {std::move(node.mapped().bytes), node.key()};
    }
    std::erase_if(free, [&](const auto& entry) { return entry.second.since + kKept < run; });
    return {};
  }

  void give_back(std::size_t size, std::shared_ptr<std::byte> block) {
    const std::lock_guard lock(mutex);
    free.emplace(size, Free{std::move(block), run});
  }
};

BlockPool::BlockPool() : blocks_(std::make_shared<Blocks>()) {}

void BlockPool::begin_run() {
  const std::lock_guard lock(blocks_->mutex);
  ++blocks_->run;
}

void BlockPool::trim() {
  const std::lock_guard lock(blocks_->mutex);
  blocks_->free.clear();
}

Tensor BlockPool::allocate(ElementType type, Shape shape) {
  constexpr i64 kWorthKeeping = 16384;
  const auto bytes = saturating_mul(shape.count(), byte_width(type));
  if (type == ElementType::string || bytes < kWorthKeeping) return Tensor(type, std::move(shape));
  auto [block, size] = blocks_->take(bytes);
  if (!block) {
    Tensor fresh(type, shape);  // checks the size
    size = bytes;
    block = std::shared_ptr<std::byte>(std::const_pointer_cast<void>(fresh.owner()), fresh.mutable_bytes());
  }
  auto* data = block.get();
  // The last user gives the block back, unless the pool itself is gone.
  const std::shared_ptr<const void> owner(
      data, [block = std::move(block), size = size, pool = std::weak_ptr(blocks_)](const void*) mutable {
        if (const auto blocks = pool.lock()) blocks->give_back(size, std::move(block));
      });
  return Tensor::adopt(type, std::move(shape), owner, data);
}

}  // namespace ovir
