#include "base/thread_pool.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace ovir {

int available_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

namespace {

/// One call of run(). Workers share it, so that one that comes late finds no chunk instead of somebody else's work.
struct Job {
  const std::function<void(std::int64_t)>* work;
  std::int64_t chunks;
  std::atomic<std::int64_t> next{0}, done{0};

  void help() {
    for (auto chunk = next.fetch_add(1); chunk < chunks; chunk = next.fetch_add(1)) {
      (*work)(chunk);
      done.fetch_add(1, std::memory_order_release);
    }
  }
};

}  // namespace

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::shared_ptr<Job> job;
  std::atomic<std::uint64_t> generation{0};
  bool stop = false;
  std::vector<std::thread> workers;

  void serve() {
    std::uint64_t seen = 0;
    for (;;) {
      // A short spin catches the next operation of a network; sleeping costs tens of microseconds.
      for (int spins = 0; spins < 2000 && generation.load(std::memory_order_acquire) == seen; ++spins)
        std::this_thread::yield();
      std::shared_ptr<Job> mine;
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return stop || generation.load(std::memory_order_relaxed) != seen; });
        if (stop) return;
        seen = generation.load(std::memory_order_relaxed);
        mine = job;
      }
      if (mine) mine->help();
    }
  }
};

ThreadPool::ThreadPool(int threads) : threads_(std::max(1, threads)), state_(std::make_unique<State>()) {
  for (int i = 1; i < threads_; ++i) state_->workers.emplace_back([s = state_.get()] { s->serve(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->wake.notify_all();
  for (auto& worker : state_->workers) worker.join();
}

void ThreadPool::run(std::int64_t chunks, const std::function<void(std::int64_t)>& work) {
  if (threads_ == 1 || chunks <= 1) {
    for (std::int64_t i = 0; i < chunks; ++i) work(i);
    return;
  }
  const auto job = std::make_shared<Job>();
  job->work = &work;
  job->chunks = chunks;
  {
    const std::lock_guard lock(state_->mutex);
    state_->job = job;
    state_->generation.fetch_add(1, std::memory_order_release);
  }
  state_->wake.notify_all();
  job->help();
  while (job->done.load(std::memory_order_acquire) < chunks) std::this_thread::yield();
}

}  // namespace ovir
