#include "base/float_mode.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/thread_pool.hpp"
#include "catch.hpp"

using namespace ovir;

namespace {

/// Whether half of the least normal number is 0 to the thread that asks.
bool flushes() {
  volatile float least = std::numeric_limits<float>::min();
  volatile float half = least * 0.5f;
  return half == 0;
}

}  // namespace

TEST_CASE("FlushToZero holds in its thread while it lives") {
  CHECK_FALSE(flushes());
  {
    const FlushToZero outer;
#if defined(__x86_64__)
    CHECK(flushes());
#endif
    const bool flushed = flushes();
    { const FlushToZero inner; }
    CHECK(flushes() == flushed);
  }
  CHECK_FALSE(flushes());
}

TEST_CASE("every thread of a pool computes in its caller's mode") {
  ThreadPool pool(4);
  const auto all = [&](bool value) {
    std::vector<char> seen(1000);
    pool.run(std::ssize(seen), [&](i64 i) { seen[i] = flushes(); });
    return std::all_of(seen.begin(), seen.end(), [&](char s) { return (s != 0) == value; });
  };
  for (int round = 0; round < 20; ++round) {
    CHECK(all(false));
    const FlushToZero mode;
    CHECK(all(flushes()));
  }
}
