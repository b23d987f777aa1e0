// Runtime: what running takes from the machine: threads, memory, time. The embedder makes one and passes it down;
// nothing of it belongs to the process.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "base/int.hpp"
#include "base/memory_budget.hpp"
#include "base/thread_pool.hpp"

namespace ovir {

struct RuntimeOptions {
  int threads = 0;  ///< 0: as many as the process may use
  i64 memory = 0;   ///< bytes of all tensors together; 0: three quarters of what the machine has
  std::optional<std::chrono::nanoseconds> time;  ///< runs end this long after the Runtime was made
  /// Elementary steps of one run, see op/work.hpp; 0: default_work_limit of the model and the inputs, so that a small
  /// file cannot ask for hours; INT64_MAX: any number.
  i64 work = 0;
};

/// May be shared by sessions in several threads; its threads help whoever asks.
class Runtime {
 public:
  explicit Runtime(const RuntimeOptions& options = {});

  int threads() const { return threads_; }
  const std::shared_ptr<MemoryBudget>& memory() const { return memory_; }
  i64 work() const { return work_; }
  /// work(0) … work(chunks - 1) on the threads there are; see ThreadPool::run. Once stopped, what is left is skipped
  /// and check() throws.
  void parallel(i64 chunks, const std::function<void(i64)>& work);
  /// The threads themselves, made when first asked for.
  ThreadPool& pool();

  /// Ends the runs under way, from any thread: each throws a Failure (E0003) at its next step, and so does any that
  /// begins before resume().
  void stop() noexcept { stopped_.store(true, std::memory_order_relaxed); }
  void resume() noexcept { stopped_.store(false, std::memory_order_relaxed); }
  /// Throws a Failure (E0003) once stop() was called or the time is over.
  void check() const {
    if (stopped_.load(std::memory_order_relaxed) || deadline_) check_slowly();
  }

 private:
  void check_slowly() const;

  int threads_;
  std::shared_ptr<MemoryBudget> memory_;
  i64 work_;
  std::optional<std::chrono::nanoseconds> time_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  std::atomic<bool> stopped_{false};
  std::once_flag once_;
  std::unique_ptr<ThreadPool> pool_;
};

}  // namespace ovir
