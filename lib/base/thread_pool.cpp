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

#include "base/float_mode.hpp"

namespace ovir {

int available_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

namespace {

/// Lets the other hardware thread have the core for a moment. Threads that wait awake never yield: the scheduler takes
/// that for giving the rest of the time slice away, to whomever else has work for the core.
void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// One call of run_phases(). It is used again once nobody helps with it: a worker that comes late finds no chunk, not
/// somebody else's work.
struct Job {
  using Work = std::function<void(i64, i64, int)>;

  /// Chunks that one thread claims first: what it has computed of one job's data it finds in its cache in the next.
  struct alignas(64) Share {
    std::atomic<i64> claimed{0};  ///< in all phases
    i64 begin = 0, count = 0;     ///< of each phase
  };

  explicit Job(int threads) : shares(threads) {}

  const Work* work = nullptr;
  FloatMode mode{};  ///< the caller's
  i64 phases = 0, chunks = 0;
  std::vector<Share> shares;
  alignas(64) std::atomic<i64> done{0};  ///< in all phases
  std::atomic<bool> awaited{false};      ///< by a caller that sleeps
  std::atomic<bool> failed{false};
  std::atomic<int> users{0};
  std::mutex mutex{};
  std::exception_ptr failure{};

  void begin(i64 phase_count, i64 count, const Work& what) {
    work = &what;
    mode = FloatMode::of_this_thread();
    phases = phase_count;
    chunks = count;
    const auto parts = std::ssize(shares);
    for (i64 i = 0; i < parts; ++i) {
      auto& share = shares[i];
      share.begin = count / parts * i + std::min(count % parts, i);
      share.count = count / parts + (i < count % parts);
      share.claimed.store(0, std::memory_order_relaxed);
    }
    done.store(0, std::memory_order_relaxed);
    awaited.store(false, std::memory_order_relaxed);
    failed.store(false, std::memory_order_relaxed);
    failure = nullptr;
    users.store(1, std::memory_order_relaxed);
  }

  /// Thread `self` does its own share of a phase whose turn it is or was, then what others have not begun. Returns how
  /// many chunks it did.
  i64 help(i64 phase, std::size_t self) {
    i64 did = 0;
    for (std::size_t i = 0; i < shares.size() && !finished(phase); ++i)
      did += help(phase, shares[(self + i) % shares.size()], static_cast<int>(self));
    return did;
  }
  i64 help(i64 phase, Share& share, int self) {
    i64 did = 0;
    const auto first = phase * share.count, end = first + share.count;
    for (auto next = share.claimed.load(std::memory_order_relaxed); next < end;) {
      if (!share.claimed.compare_exchange_weak(next, next + 1, std::memory_order_relaxed)) continue;
      if (!failed.load(std::memory_order_relaxed)) call(phase, share.begin + next - first, self);
      ++did;
      next = share.claimed.load(std::memory_order_relaxed);
    }
    // All at once: threads that counted each chunk would wait for the counter as long as for a short chunk.
    if (did > 0) done.fetch_add(did);
    return did;
  }
  void call(i64 phase, i64 chunk, int self) {
    try {
      (*work)(phase, chunk, self);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      failed.store(true, std::memory_order_relaxed);
    }
  }
  bool finished(i64 phase) const { return done.load() >= (phase + 1) * chunks; }
  /// Whose turn it is.
  i64 phase() const { return done.load() / chunks; }
};

/// How long a thread waits awake: longer than most operations of a network that one thread computes. To wake a worker
/// takes the caller 10 µs, and the worker begins even later.
constexpr std::chrono::microseconds kLinger{200};
constexpr int kSpins = 64;  // between two looks at the clock: about 2 µs
/// What the others do of the jobs is weighed against the time that their caller waits for them; kCredit is the most
/// that counts for them. Once they owe kDebt the machine is busy, their cores are taken by others: the caller works
/// alone for kAlone. While it loses its own core, too, each such time is twice as long as the one before, up to
/// kLongest.
constexpr std::chrono::milliseconds kCredit{2}, kDebt{4}, kAlone{30}, kLongest{240};
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
  std::condition_variable wake, ended;
  std::vector<std::unique_ptr<Job>> jobs;  ///< as many as were ever needed at once
  Job* job = nullptr;                      ///< the latest; null once its caller has left
  std::atomic<std::uint64_t> generation{0};
  std::atomic<int> sleeping{0};
  std::atomic<Clock::rep> balance{0};      ///< in ticks of the clock
  std::atomic<Clock::rep> alone_until{0};  ///< the same; 0: the others are asked
  Clock::time_point until{};               ///< the end of the last time that a caller worked alone
  Clock::duration alone{};                 ///< how long the caller works alone this time
  std::thread::id caller{};                ///< who began to, and what it had had of its core by then
  Usage had{};
  bool stop = false;
  int threads = 1;  ///< that were asked for
  std::vector<std::thread> workers;
  cpu_set_t processors{};  ///< that the process may use
  bool spread = false;     ///< whether there is one for every thread; set before the first begins
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

  /// Waits awake, for a while and where every thread may have a processor of its own, until `holds()`.
  template <class Condition>
  bool linger(Condition holds) const {
    if (!spread) return holds();
    // The clock takes as long as many a wait.
    for (auto end = Clock::time_point();;) {
      for (int spins = 0; spins < kSpins; ++spins) {
        if (holds()) return true;
        pause();
      }
      const auto now = Clock::now();
      if (end == Clock::time_point()) end = now + kLinger;
      else if (now >= end) return holds();
    }
  }

  /// The caller's, until others have finished the chunks of a phase that they had begun. Returns how long it waited.
  Clock::duration wait_for(Job& job, i64 phase) {
    if (job.finished(phase)) return {};
    const auto start = Clock::now();
    if (!linger([&] { return job.finished(phase); })) {
      // It says that it sleeps before it looks once more; a worker finishes before it looks whether anybody sleeps.
      std::unique_lock lock(mutex);
      job.awaited.store(true);
      ended.wait(lock, [&] { return job.finished(phase); });
      job.awaited.store(false);
    }
    return Clock::now() - start;
  }

  /// A worker's part in a job. Where another thread does not run that has begun with a chunk, the caller is left with
  /// the phases behind that.
  void help(Job& job, std::size_t self) {
    for (auto phase = job.phase(); phase < job.phases; ++phase) {
      job.help(phase, self);
      if (job.finished(phase) && job.awaited.load()) {
        { const std::lock_guard lock(mutex); }  // the caller has begun to wait
        ended.notify_all();
      }
      if (phase + 1 < job.phases && !linger([&] { return job.finished(phase); })) return;
    }
  }

  /// Worker `self`; the caller of run() is 0.
  void serve(std::size_t self) {
    std::uint64_t seen = 0;
    for (;;) {
      linger([&] { return generation.load(std::memory_order_acquire) != seen; });
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
      mine->mode.use();
      help(*mine, self);
      mine->users.fetch_sub(1, std::memory_order_release);
    }
  }

  /// Under the mutex.
  void work_alone(Clock::time_point now, Clock::duration period) {
    alone = period;
    caller = std::this_thread::get_id();
    had = Usage::of_this_thread();
    until = now + period;
    alone_until.store(until.time_since_epoch().count(), std::memory_order_relaxed);
  }
  /// After a job of which the caller did `mine` of the chunks before it waited.
  void weigh(i64 mine, i64 chunks, Clock::duration worked, Clock::duration waited) {
    // At the pace of the caller; more than makes good every debt does not count.
    using Exact = std::chrono::duration<double, Clock::period>;
    const auto share = static_cast<double>(chunks - mine) / static_cast<double>(std::max<i64>(mine, 1));
    const auto theirs =
        std::chrono::duration_cast<Clock::duration>(std::min<Exact>(Exact(worked) * share, waited + kDebt + kCredit));
    const auto now = std::min<Clock::duration>(Clock::duration(balance.load()) + theirs - waited, kCredit);
    const bool lost = now < -kDebt;
    balance.store(lost ? 0 : now.count());
    if (!lost) return;
    const std::lock_guard lock(mutex);
    work_alone(Clock::now(), kAlone);
  }
  /// Whether the caller of run() is to do without the others.
  bool is_alone(Clock::time_point now) {
    const auto end = alone_until.load(std::memory_order_relaxed);
    if (now.time_since_epoch().count() <= end) return true;
    if (end == 0) return false;
    const std::lock_guard lock(mutex);
    if (now < until) return true;  // another caller was faster
    if (lost_core(now)) work_alone(now, std::min<Clock::duration>(2 * alone, kLongest));
    else alone_until.store(0, std::memory_order_relaxed);
    return now < until;
  }
  /// Whether others took a fifth of the caller's time since it began to work alone; what it slept is not theirs.
  bool lost_core(Clock::time_point now) const {
    if (caller != std::this_thread::get_id()) return false;
    const auto has = Usage::of_this_thread();
    const auto since = now - (until - alone);
    return (has.preempted - had.preempted) * kAlone >= alone && (has.computed - had.computed) * 5 < since * 4;
  }

  /// A job that nobody uses, for its caller. Under the mutex.
  Job& take(i64 phases, i64 chunks, const Job::Work& work) {
    const auto unused = [](const auto& j) { return j->users.load(std::memory_order_acquire) == 0; };
    auto found = std::find_if(jobs.begin(), jobs.end(), unused);
    if (found == jobs.end()) found = jobs.insert(found, std::make_unique<Job>(threads));
    auto& taken = **found;
    taken.begin(phases, chunks, work);
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
  state_->spread = threads > 1 && sched_getaffinity(0, sizeof state_->processors, &state_->processors) == 0 &&
                   CPU_COUNT(&state_->processors) >= threads;
  // The caller's, and one that each worker may not have left yet: so many are in use where one caller comes at a time.
  for (int i = 0; threads > 1 && i < threads; ++i) state_->jobs.push_back(std::make_unique<Job>(threads));
  try {
    for (; threads_ < threads; ++threads_)
      state_->workers.emplace_back([s = state_.get(), self = threads_] { s->serve(self); });
  } catch (const std::system_error&) {
    // No more threads are to be had; those there are do.
  } catch (...) {
    state_->join();
    throw;
  }
  state_->keep_off(sched_getcpu());
}

ThreadPool::~ThreadPool() { state_->join(); }

void ThreadPool::run(i64 chunks, const std::function<void(i64)>& work) {
  const auto only = [&](i64, i64 chunk, int) { work(chunk); };
  run_phases(1, chunks, std::cref(only));
}

void ThreadPool::run_phases(i64 phases, i64 chunks, const std::function<void(i64, i64, int)>& work) {
  const bool single = threads_ == 1 || chunks <= 1 || phases < 1;
  const auto start = single ? Clock::time_point() : Clock::now();
  if (single || state_->is_alone(start)) {
    for (i64 phase = 0; phase < phases; ++phase)
      for (i64 i = 0; i < chunks; ++i) work(phase, i, 0);
    return;
  }
  Job* job = nullptr;
  bool asleep = false;
  {
    const std::lock_guard lock(state_->mutex);
    job = state_->job = &state_->take(phases, chunks, work);
    state_->generation.fetch_add(1, std::memory_order_release);
    asleep = state_->sleeping.load(std::memory_order_relaxed) > 0;
    if (asleep) state_->keep_off(sched_getcpu());
  }
  if (asleep) state_->wake.notify_all();
  i64 mine = 0;
  Clock::duration waited{};
  for (i64 phase = 0; phase < phases; ++phase) {
    mine += job->help(phase, 0);
    waited += state_->wait_for(*job, phase);
  }
  state_->weigh(mine, phases * chunks, Clock::now() - start - waited, waited);
  const auto failure = job->failure;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->job == job) state_->job = nullptr;
    job->users.fetch_sub(1, std::memory_order_release);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ovir
