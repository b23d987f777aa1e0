// MemoryBudget: how many bytes may be allocated together. Storage that base/bytes hands out counts against the budget
// of the thread that asks, so that an absurd model is refused before the system is asked for its memory.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "base/int.hpp"

namespace ovir {

/// Thrown instead of std::bad_alloc where a budget, not the system, refuses.
struct OverBudget : std::bad_alloc {
  explicit OverBudget(i64 l) : limit(l) {}
  const char* what() const noexcept override { return "over the memory budget"; }
  i64 limit;  ///< bytes
};

/// May be shared by threads.
class MemoryBudget {
 public:
  /// `limit` in bytes.
  explicit MemoryBudget(i64 limit) : limit_(limit) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  /// Throws OverBudget where fewer than `bytes` are left.
  void take(std::size_t bytes);
  void give_back(std::size_t bytes) noexcept { used_.fetch_sub(bytes); }
  i64 limit() const { return limit_; }
  i64 used() const { return used_.load(); }

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

  /// What a list that grows with a run takes beside the storage of tensors, until the list is gone.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() { give_back(); }

    /// For one entry more, names and blocks of the heap included. Throws OverBudget.
    void add_entry();
    void give_back() noexcept;

   private:
    std::shared_ptr<MemoryBudget> budget_;
    std::size_t bytes_ = 0;
  };

 private:
  const i64 limit_;
  std::atomic<i64> used_{0};
};

/// Three quarters of the memory that the machine, or the control group that the process is in, has: in bytes.
i64 default_memory_limit();

}  // namespace ovir
