// Fork-join over a few threads: chunks are claimed one by one, the caller works too and never waits for a worker that
// has not claimed a chunk.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "base/int.hpp"

namespace ovir {

/// Any thread may call run(); calls from several threads at once take turns at the workers, and every caller works.
class ThreadPool {
 public:
  /// `threads` in all, the caller's included. Where the system refuses some, the pool has fewer.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }
  /// Calls work(0) … work(chunks - 1), each once, in no particular order; returns when all have returned. Where one
  /// throws, chunks that nobody has claimed are left out, and the first exception is thrown again here.
  void run(i64 chunks, const std::function<void(i64)>& work);
  /// work(phase, 0, thread) … work(phase, chunks - 1, thread) likewise, for phases 0, 1, …, each of which begins when
  /// all chunks of the one before have returned. A thread begins with the same chunks in every phase. `thread` is below
  /// threads(), and no two calls that run at once have the same.
  void run_phases(i64 phases, i64 chunks, const std::function<void(i64 phase, i64 chunk, int thread)>& work);

 private:
  struct State;
  int threads_;
  std::unique_ptr<State> state_;
};

/// The processors that this process may use.
int available_processors();

}  // namespace ovir
