#include "base/thread_pool.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace ovir {

int available_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

namespace {

/// Lets the other hardware thread have the core for a moment.
void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// One call of run(). It is used again once nobody helps with it: a worker that comes late finds no chunk instead of
/// somebody else's work.
struct Job {
  /// Chunks that one thread claims first: what it has computed of one job's data it finds in its cache in the next.
  struct alignas(64) Share {
    std::atomic<i64> next{0};
    i64 end = 0;
  };

  explicit Job(int threads) : shares(threads) {}

  const std::function<void(i64)>* work = nullptr;
  i64 chunks = 0;
  std::vector<Share> shares;
  std::atomic<i64> done{0};
  std::atomic<int> users{0};
  std::mutex mutex{};
  std::exception_ptr failure{};

  void begin(i64 count, const std::function<void(i64)>& what) {
    work = &what;
    chunks = count;
    const auto parts = std::ssize(shares);
    for (i64 i = 0; i < parts; ++i) {
      auto& share = shares[i];
      share.end = count / parts * (i + 1) + std::min(count % parts, i + 1);
      share.next.store(count / parts * i + std::min(count % parts, i), std::memory_order_relaxed);
    }
    done.store(0, std::memory_order_relaxed);
    failure = nullptr;
    users.store(1, std::memory_order_relaxed);
  }

  /// Thread `self` does its own share, then what others have not begun.
  void help(std::size_t self) {
    for (std::size_t i = 0; i < shares.size(); ++i) help(shares[(self + i) % shares.size()]);
  }
  void help(Share& share) {
    if (share.next.load(std::memory_order_relaxed) >= share.end) return;
    for (auto chunk = share.next.fetch_add(1); chunk < share.end; chunk = share.next.fetch_add(1)) {
      i64 finished = 1;
      try {
        (*work)(chunk);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        // Nobody need begin what is left: those chunks are claimed here.
        for (auto& other : shares) finished += std::max<i64>(other.end - other.next.exchange(other.end), 0);
      }
      done.fetch_add(finished, std::memory_order_acq_rel);
    }
  }
  bool finished() const { return done.load(std::memory_order_acquire) >= chunks; }
};

/// How long a worker waits awake: longer than most operations of a network that one thread computes. To wake it takes
/// the caller 10 µs, and the worker begins even later.
constexpr std::chrono::microseconds kLinger{200};
/// A yield that takes so long has given the core to somebody else.
constexpr std::chrono::microseconds kTaken{5};
constexpr int kSpins = 64;  // between two yields: about 2 µs
/// A caller that waits so much longer than it worked waits for a worker whose core others have taken.
constexpr std::chrono::microseconds kLate{500};
/// Where that comes twice within kSoon the machine is busy, and every wait costs as much as the others' time slice: the
/// caller works alone for kAlone, and for as long again when it then comes once more as soon. While it loses its own
/// core, too, each such time is twice as long as the one before, up to kLongest: even to try costs a wait.
constexpr std::chrono::milliseconds kSoon{20}, kAlone{30}, kLongest{240};
using Clock = std::chrono::steady_clock;

/// What a thread has had of its core.
struct Usage {
  std::chrono::microseconds computed{};
  i64 preempted = 0;  ///< how often others were given the core although it had more to do

  static Usage of_this_thread() {
    const auto micros = [](const timeval& t) {
      return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
    };
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return {micros(usage.ru_utime) + micros(usage.ru_stime), usage.ru_nivcsw};
  }
};

}  // namespace

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::vector<std::unique_ptr<Job>> jobs;  ///< as many as were ever needed at once
  Job* job = nullptr;                      ///< the latest; null once its caller has left
  std::atomic<std::uint64_t> generation{0};
  std::atomic<int> sleeping{0};
  std::atomic<Clock::rep> alone_until{0};  ///< in ticks of the clock; 0: the threads are asked
  Clock::time_point late{};                ///< when a caller waited too long, or last stopped working alone
  Clock::duration alone{};                 ///< how long the caller works alone this time
  std::thread::id caller{};                ///< who began to, and what it had had of its core by then
  Usage had{};
  bool stop = false;
  int threads = 1;  ///< that were asked for
  std::vector<std::thread> workers;
  cpu_set_t processors{};  ///< that the process may use
  bool spread = false;     ///< whether there is one for every thread
  int avoided = -1;        ///< where workers do not run

  /// Keeps workers off the processor that the caller runs on. In a virtual machine an idle processor looks as if others
  /// had taken it, and a thread that begins or wakes is put behind its caller, often for milliseconds. The caller
  /// itself goes wherever the scheduler likes.
  void keep_off(int processor) {
    if (!spread || processor == avoided || processor < 0 || processor >= CPU_SETSIZE) return;
    avoided = processor;
    auto others = processors;
    CPU_CLR(processor, &others);
    for (auto& worker : workers) pthread_setaffinity_np(worker.native_handle(), sizeof others, &others);
  }

  /// Waits awake for another job than the one seen, unless the core is wanted by others.
  void linger(std::uint64_t seen) const {
    const auto end = Clock::now() + kLinger;
    for (;;) {
      for (int spins = 0; spins < kSpins; ++spins) {
        if (generation.load(std::memory_order_acquire) != seen) return;
        pause();
      }
      const auto before = Clock::now();
      if (before > end) return;
      std::this_thread::yield();
      if (Clock::now() - before > kTaken) return;
    }
  }

  /// Worker `self`; the caller of run() is 0.
  void serve(std::size_t self) {
    std::uint64_t seen = 0;
    for (;;) {
      linger(seen);
      Job* mine = nullptr;
      {
        std::unique_lock lock(mutex);
        ++sleeping;
        wake.wait(lock, [&] { return stop || generation.load(std::memory_order_relaxed) != seen; });
        --sleeping;
        if (stop) return;
        seen = generation.load(std::memory_order_relaxed);
        mine = job;
        if (mine) mine->users.fetch_add(1, std::memory_order_relaxed);
      }
      if (!mine) continue;
      mine->help(self);
      mine->users.fetch_sub(1, std::memory_order_release);
    }
  }

  /// Under the mutex.
  void work_alone(Clock::time_point now, Clock::duration period) {
    alone = period;
    caller = std::this_thread::get_id();
    had = Usage::of_this_thread();
    late = now + period;
    alone_until.store(late.time_since_epoch().count(), std::memory_order_relaxed);
  }
  void note_late(Clock::time_point now) {
    const std::lock_guard lock(mutex);
    if (now - kSoon < late) work_alone(now, kAlone);
    else late = now;
  }
  /// Whether the caller of run() is to do without the others.
  bool is_alone(Clock::time_point now) {
    const auto until = alone_until.load(std::memory_order_relaxed);
    if (now.time_since_epoch().count() <= until) return true;
    if (until == 0) return false;
    const std::lock_guard lock(mutex);
    if (now < late) return true;  // another caller was faster
    if (lost_core(now)) work_alone(now, std::min<Clock::duration>(2 * alone, kLongest));
    else alone_until.store(0, std::memory_order_relaxed);
    return now < late;
  }
  /// Whether others took a fifth of the caller's time since it began to work alone; what it slept is not theirs.
  bool lost_core(Clock::time_point now) const {
    if (caller != std::this_thread::get_id()) return false;
    const auto has = Usage::of_this_thread();
    const auto since = now - (late - alone);
    return (has.preempted - had.preempted) * kAlone >= alone && (has.computed - had.computed) * 5 < since * 4;
  }

  /// A job that nobody uses, for its caller. Under the mutex.
  Job& take(i64 chunks, const std::function<void(i64)>& work) {
    const auto unused = [](const auto& j) { return j->users.load(std::memory_order_acquire) == 0; };
    auto found = std::find_if(jobs.begin(), jobs.end(), unused);
    if (found == jobs.end()) found = jobs.insert(found, std::make_unique<Job>(threads));
    auto& taken = **found;
    taken.begin(chunks, work);
    return taken;
  }

  void join() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    wake.notify_all();
    for (auto& worker : workers) worker.join();
  }
};

ThreadPool::ThreadPool(int threads) : threads_(1), state_(std::make_unique<State>()) {
  state_->threads = std::max(threads, 1);
  try {
    for (; threads_ < threads; ++threads_)
      state_->workers.emplace_back([s = state_.get(), self = threads_] { s->serve(self); });
  } catch (const std::system_error&) {
    // No more threads are to be had; those there are do.
  } catch (...) {
    state_->join();
    throw;
  }
  state_->spread = threads_ > 1 && sched_getaffinity(0, sizeof state_->processors, &state_->processors) == 0 &&
                   CPU_COUNT(&state_->processors) >= threads_;
  state_->keep_off(sched_getcpu());
}

ThreadPool::~ThreadPool() { state_->join(); }

void ThreadPool::run(i64 chunks, const std::function<void(i64)>& work) {
  const bool single = threads_ == 1 || chunks <= 1;
  const auto start = single ? Clock::time_point() : Clock::now();
  if (single || state_->is_alone(start)) {
    for (i64 i = 0; i < chunks; ++i) work(i);
    return;
  }
  Job* job = nullptr;
  bool asleep = false;
  {
    const std::lock_guard lock(state_->mutex);
    job = state_->job = &state_->take(chunks, work);
    state_->generation.fetch_add(1, std::memory_order_release);
    asleep = state_->sleeping.load(std::memory_order_relaxed) > 0;
    if (asleep) state_->keep_off(sched_getcpu());
  }
  if (asleep) state_->wake.notify_all();
  job->help(0);
  const auto worked = Clock::now();
  for (int spins = 0; !job->finished(); ++spins)
    if (spins % kSpins != kSpins - 1) pause();
    else std::this_thread::yield();
  if (const auto now = Clock::now(); now - worked > (worked - start) + kLate) state_->note_late(now);
  const auto failure = job->failure;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->job == job) state_->job = nullptr;
    job->users.fetch_sub(1, std::memory_order_release);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ovir
