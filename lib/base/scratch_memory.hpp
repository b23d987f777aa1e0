// ScratchMemory: where short-lived lists of one run lie, in blocks that are kept for the next.
#pragma once
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <vector>

namespace ovir {

/// Hands out memory that is all taken back at once, by release(). Allocates, and takes from the thread's MemoryBudget,
/// only until it has met the largest run; then it allocates nothing. For one thread at a time.
class ScratchMemory final : public std::pmr::memory_resource {
 public:
  /// What was handed out must not be used any more.
  void release();

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  struct Block {
    std::shared_ptr<std::byte> bytes;
    std::size_t size;
  };
  std::vector<Block> blocks_;
  std::size_t used_ = 0;  // of the last block
};

}  // namespace ovir
