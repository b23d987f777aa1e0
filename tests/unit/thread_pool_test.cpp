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
