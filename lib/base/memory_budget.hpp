// MemoryBudget: how many bytes may be allocated together. Storage that base/bytes hands out counts against the budget
// of the thread that asks, so that an absurd model is refused before the system is asked for its memory.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace ovir {

/// Thrown instead of std::bad_alloc where a budget, not the system, refuses.
struct OverBudget : std::bad_alloc {
  explicit OverBudget(std::int64_t l) : limit(l) {}
  const char* what() const noexcept override { return "over the memory budget"; }
  std::int64_t limit;  ///< bytes
};

/// May be shared by threads.
class MemoryBudget {
 public:
  /// `limit` in bytes.
  explicit MemoryBudget(std::int64_t limit) : limit_(limit) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  /// Throws OverBudget where fewer than `bytes` are left.
  void take(std::size_t bytes);
  void give_back(std::size_t bytes) noexcept { used_.fetch_sub(static_cast<std::int64_t>(bytes)); }
  std::int64_t limit() const { return limit_; }
  std::int64_t used() const { return used_.load(); }

  /// While it lives, what this thread allocates counts against `budget`, wherever it is freed.
  class Scope {
   public:
    explicit Scope(std::shared_ptr<MemoryBudget> budget);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    std::shared_ptr<MemoryBudget> before_;
  };
  /// That of this thread; null where there is none.
  static const std::shared_ptr<MemoryBudget>& current();

 private:
  const std::int64_t limit_;
  std::atomic<std::int64_t> used_{0};
};

/// Three quarters of the memory that the machine, or the control group that the process is in, has: in bytes.
std::int64_t default_memory_limit();

}  // namespace ovir
