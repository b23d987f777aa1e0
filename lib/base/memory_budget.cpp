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

i64 default_memory_limit() {
  static const i64 limit = memory_available() / 4 * 3;
  return limit;
}

}  // namespace ovir
