#include "base/memory_budget.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "base/checked.hpp"

namespace ovir {
namespace {

/// What Scope puts in place: a budget belongs to a run, and a run to a thread.
std::shared_ptr<MemoryBudget>& budget_of_thread() {
  thread_local std::shared_ptr<MemoryBudget> budget;
  return budget;
}

/// The number that a file of the control group file system holds; the largest one where it says "max" or is not there.
std::int64_t number_in(const char* path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  return file >> value && value > 0 ? value : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

void MemoryBudget::take(std::size_t bytes) {
  const auto n = static_cast<std::int64_t>(bytes);
  auto used = used_.load();
  do {
    if (n < 0 || n > limit_ - used) throw OverBudget(limit_);
  } while (!used_.compare_exchange_weak(used, used + n));
}

MemoryBudget::Scope::Scope(std::shared_ptr<MemoryBudget> budget)
    : before_(std::exchange(budget_of_thread(), std::move(budget))) {}
MemoryBudget::Scope::~Scope() { budget_of_thread() = std::move(before_); }

const std::shared_ptr<MemoryBudget>& MemoryBudget::current() { return budget_of_thread(); }

std::int64_t default_memory_limit() {
  const std::int64_t pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGE_SIZE);
  const auto machine = pages > 0 && page > 0 ? checked_mul(pages, page) : std::nullopt;
  const auto group =
      std::min(number_in("/sys/fs/cgroup/memory.max"), number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  return std::min(machine.value_or(std::numeric_limits<std::int64_t>::max()), group) / 4 * 3;
}

}  // namespace ovir
