#include "base/thread_pool.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "catch.hpp"

using ovir::ThreadPool;

TEST_CASE("every chunk runs once") {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    CHECK(pool.threads() == threads);
    for (const ovir::i64 chunks : {0, 1, 2, 3, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(chunks));
      pool.run(chunks, [&](ovir::i64 i) { ++calls[static_cast<std::size_t>(i)]; });
      for (const auto& n : calls) CHECK(n == 1);
    }
  }
}

TEST_CASE("no chunks: the work is not called") {
  ThreadPool pool(2);
  pool.run(0, [](ovir::i64) { FAIL("called"); });
  pool.run(-1, [](ovir::i64) { FAIL("called"); });
}

TEST_CASE("an exception of a chunk comes out of run, and nothing of the work goes on behind it") {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (ovir::i64 bad = 0; bad < 64; bad += 7) {
      std::atomic<int> inside = 0;
      const auto work = [&](ovir::i64 i) {
        ++inside;
        if (i == bad) {
          --inside;
          throw std::runtime_error("chunk");
        }
        std::this_thread::yield();
        --inside;
      };
      CHECK_THROWS_AS(pool.run(64, work), std::runtime_error);
      CHECK(inside == 0);
    }
    std::atomic<int> calls = 0;
    pool.run(100, [&](ovir::i64) { ++calls; });
    CHECK(calls == 100);
  }
}

TEST_CASE("every chunk throws") {
  ThreadPool pool(4);
  for (int round = 0; round < 100; ++round)
    CHECK_THROWS_AS(pool.run(50, [](ovir::i64) { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST_CASE("phases: every chunk once, in its turn, with what the phase before has written") {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (const ovir::i64 chunks : {0, 1, 2, 3, 7}) {
      constexpr ovir::i64 kPhases = 50;
      // Not atomic: a phase that began early would read what is being written.
      std::vector<ovir::i64> sums(static_cast<std::size_t>(chunks * (kPhases + 1)), 1);
      const auto at = [&](ovir::i64 phase, ovir::i64 i) -> ovir::i64& {
        return sums[static_cast<std::size_t>(phase * chunks + i)];
      };
      std::vector<std::atomic<int>> busy(static_cast<std::size_t>(threads));
      std::atomic<int> faults = 0;
      pool.run_phases(kPhases, chunks, [&](ovir::i64 phase, ovir::i64 i, int thread) {
        faults += thread < 0 || thread >= threads;
        auto& mine = busy[static_cast<std::size_t>(thread)];
        faults += mine++ != 0;
        ovir::i64 sum = 0;
        for (ovir::i64 j = 0; j < chunks; ++j) sum += at(phase, j) * (i + j + 1);
        at(phase + 1, i) += sum % 1009;
        --mine;
      });
      CHECK(faults == 0);
      std::vector<ovir::i64> row(static_cast<std::size_t>(chunks), 1), next = row;
      for (ovir::i64 phase = 0; phase < kPhases; ++phase) {
        for (ovir::i64 i = 0; i < chunks; ++i) {
          ovir::i64 sum = 0;
          for (ovir::i64 j = 0; j < chunks; ++j) sum += row[static_cast<std::size_t>(j)] * (i + j + 1);
          next[static_cast<std::size_t>(i)] = 1 + sum % 1009;
        }
        row = next;
      }
      for (ovir::i64 i = 0; i < chunks; ++i) CHECK(at(kPhases, i) == row[static_cast<std::size_t>(i)]);
    }
  }
}

TEST_CASE("phases: an exception leaves out the phases behind it") {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (ovir::i64 bad = 0; bad < 10; ++bad) {
      std::atomic<ovir::i64> last = 0;
      CHECK_THROWS_AS(pool.run_phases(10, 4,
                                      [&](ovir::i64 phase, ovir::i64 i, int) {
                                        for (auto seen = last.load(); seen < phase;)
                                          last.compare_exchange_weak(seen, phase);
                                        if (phase == bad && i == 2) throw std::runtime_error("chunk");
                                      }),
                      std::runtime_error);
      CHECK(last == bad);
    }
    std::atomic<int> calls = 0;
    pool.run_phases(3, 5, [&](ovir::i64, ovir::i64, int) { ++calls; });
    CHECK(calls == 15);
  }
}

TEST_CASE("phases: threads that are late or asleep, several callers") {
  ThreadPool pool(3);
  const auto call = [&](std::vector<int>& calls) {
    const auto caller = std::this_thread::get_id();
    for (int round = 0; round < 50; ++round)
      pool.run_phases(4, 5, [&](ovir::i64 phase, ovir::i64 i, int) {
        ++calls[static_cast<std::size_t>(phase * 5 + i)];
        // Now a worker, now the caller lets the others wait until they sleep or leave.
        if (i == 0 && round % 5 == 0 && phase == round % 4 &&
            (std::this_thread::get_id() == caller) == (round % 2 == 0))
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
      });
  };
  std::vector<int> a(20), b(20);
  {
    const std::jthread other(call, std::ref(a));
    call(b);
  }
  CHECK(a == std::vector<int>(20, 50));
  CHECK(b == std::vector<int>(20, 50));
}

TEST_CASE("several threads call one pool") {
  ThreadPool pool(3);
  std::atomic<ovir::i64> sum = 0, caught = 0;
  const auto call = [&](bool throws) {
    for (int round = 0; round < 200; ++round) {
      try {
        pool.run(20, [&](ovir::i64 i) {
          if (throws && i == 11) throw std::runtime_error("chunk");
          if (!throws) sum += i;
        });
      } catch (const std::runtime_error&) {
        ++caught;
      }
    }
  };
  {
    const std::jthread a(call, false), b(call, false), c(call, true);
    call(false);
  }
  CHECK(sum == 3 * 200 * 190);
  CHECK(caught == 200);
}

TEST_CASE("workers that are late leave no chunk out, and none runs twice while callers work alone") {
  ThreadPool pool(3);
  const auto call = [&](std::vector<int>& calls) {
    const auto caller = std::this_thread::get_id();
    for (int round = 0; round < 200; ++round)
      pool.run(8, [&](ovir::i64 i) {
        ++calls[static_cast<std::size_t>(i)];
        if (round % 3 == 0 && std::this_thread::get_id() != caller)
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
      });
  };
  std::vector<int> a(8), b(8);
  {
    const std::jthread other(call, std::ref(a));
    call(b);
  }
  CHECK(a == std::vector<int>(8, 200));
  CHECK(b == std::vector<int>(8, 200));
}

TEST_CASE("a chunk may call the pool again") {
  ThreadPool pool(2);
  std::atomic<int> calls = 0;
  pool.run(4, [&](ovir::i64) { pool.run(5, [&](ovir::i64) { ++calls; }); });
  CHECK(calls == 20);
}

TEST_CASE("a caller falls asleep while others have work, and is woken") {
  for (const int threads : {2, 4}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> ended = 0;
      const auto caller = std::this_thread::get_id();
      pool.run(4, [&](ovir::i64) {
        if (std::this_thread::get_id() != caller) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ++ended;
      });
      REQUIRE(ended == 4);
    }
  }
}

TEST_CASE("the processors of this process") { CHECK(ovir::available_processors() >= 1); }
