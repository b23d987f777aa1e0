#include "plan/runtime.hpp"

#include <algorithm>

#include "diag/diagnostic.hpp"

namespace ovir {

Runtime::Runtime(const RuntimeOptions& options)
    : threads_(options.threads > 0 ? std::min(options.threads, 1024) : available_processors()),
      memory_(std::make_shared<MemoryBudget>(options.memory > 0 ? options.memory : default_memory_limit())),
      work_(options.work),
      time_(options.time) {
  if (time_) deadline_ = std::chrono::steady_clock::now() + *time_;
}

ThreadPool& Runtime::pool() {
  std::call_once(once_, [this] { pool_ = std::make_unique<ThreadPool>(threads_); });
  return *pool_;
}

void Runtime::parallel(i64 chunks, const std::function<void(i64)>& work) {
  if (chunks <= 1 || threads_ == 1) {
    for (i64 i = 0; i < chunks; ++i) {
      check();
      work(i);
    }
    return;
  }
  pool().run(chunks, [&](i64 chunk) {
    check();
    work(chunk);
  });
}

void Runtime::check_slowly() const {
  if (stopped_.load(std::memory_order_relaxed)) fail(Code::E0003, "the run was stopped");
  if (deadline_ && std::chrono::steady_clock::now() >= *deadline_)
    fail(Code::E0003, "the run was stopped after {} s (time limit)",
         std::chrono::duration<double>(time_.value_or(std::chrono::nanoseconds(0))).count());
}

}  // namespace ovir
