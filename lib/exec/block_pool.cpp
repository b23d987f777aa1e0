#include "exec/block_pool.hpp"

#include <map>
#include <mutex>

#include "base/bytes.hpp"
#include "base/checked.hpp"

namespace ovir {

struct BlockPool::Blocks {
  struct Free {
    std::shared_ptr<std::byte> bytes;
    Runs runs;                // of the plan that has used it
    std::uint64_t since = 0;  // that in which it became free
  };

  std::mutex mutex;
  std::multimap<std::size_t, Free> free;  // by size

  /// One of about the size, and its size; null where there is none.
  std::pair<std::shared_ptr<std::byte>, std::size_t> take(std::size_t bytes) {
    constexpr std::uint64_t kKept = 8;
    const std::lock_guard lock(mutex);
    if (const auto fit = free.lower_bound(bytes); fit != free.end() && fit->first / 2 <= bytes) {
      auto node = free.extract(fit);
      return {std::move(node.mapped().bytes), node.key()};
    }
    std::erase_if(free, [&](const auto& entry) { return entry.second.since + kKept < *entry.second.runs; });
    return {};
  }

  void give_back(std::size_t size, std::shared_ptr<std::byte> block, Runs runs) {
    const std::lock_guard lock(mutex);
    const auto now = *runs;
    free.emplace(size, Free{std::move(block), std::move(runs), now});
  }
};

BlockPool::BlockPool() : blocks_(std::make_shared<Blocks>()) {}

void BlockPool::begin_run(const Runs& runs) {
  const std::lock_guard lock(blocks_->mutex);
  ++*runs;
}

void BlockPool::trim() {
  const std::lock_guard lock(blocks_->mutex);
  blocks_->free.clear();
}

Tensor BlockPool::allocate(ElementType type, Shape shape, const Runs& runs) {
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
      data, [block = std::move(block), size = size, runs, pool = std::weak_ptr(blocks_)](const void*) mutable {
        if (const auto blocks = pool.lock()) blocks->give_back(size, std::move(block), std::move(runs));
      });
  return Tensor::adopt(type, std::move(shape), owner, data);
}

}  // namespace ovir
