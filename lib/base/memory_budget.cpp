#include "base/memory_budget.hpp"

#include <utility>

#include "base/memory.hpp"

namespace ovir {
namespace {

/// What Scope puts in place: a budget belongs to a run, and a run to a thread.
std::shared_ptr<MemoryBudget>& budget_of_thread() {
  thread_local std::shared_ptr<MemoryBudget> budget;
  return budget;
}

}  // namespace

void MemoryBudget::take(std::size_t bytes) {
  const i64 n = bytes;
  auto used = used_.load();
  do {
    if (n < 0 || n > limit_ - used) throw OverBudget(limit_);
  } while (!used_.compare_exchange_weak(used, used + n));
}

MemoryBudget::Scope::Scope(std::shared_ptr<MemoryBudget> budget)
    : before_(std::exchange(budget_of_thread(), std::move(budget))) {}
MemoryBudget::Scope::~Scope() { budget_of_thread() = std::move(before_); }

const std::shared_ptr<MemoryBudget>& MemoryBudget::current() { return budget_of_thread(); }

void MemoryBudget::Share::add_entry() {
  constexpr std::size_t entry = 1024;
  if (!budget_) budget_ = current();
  if (!budget_) return;
  budget_->take(entry);
  bytes_ += entry;
}

void MemoryBudget::Share::give_back() noexcept {
  if (budget_) budget_->give_back(std::exchange(bytes_, 0));
}

i64 default_memory_limit() {
  static const i64 limit = memory_available() / 4 * 3;
  return limit;
}

}  // namespace ovir
