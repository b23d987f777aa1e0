#include "exec/block_pool.hpp"

#include <cstdint>
#include <cstring>
#include <optional>
#include <thread>

#include "catch.hpp"
#include "diag/diagnostic.hpp"

using namespace ovir;

TEST_CASE("a block is handed out again when its tensor dies") {
  BlockPool pool;
  const BlockPool::Runs runs = std::make_shared<std::uint64_t>();
  auto first = std::make_optional(pool.allocate(ElementType::f32, {100, 100}, runs));
  const auto* at = first->bytes();
  const auto second = pool.allocate(ElementType::f32, {100, 100}, runs);
  CHECK(second.bytes() != at);
  first.reset();
  const auto third = pool.allocate(ElementType::u8, {30000}, runs);
  CHECK(third.bytes() == at);
  CHECK(third.byte_size() == 30000);
  const auto much_smaller = pool.allocate(ElementType::u8, {17000}, runs);
  CHECK(much_smaller.bytes() != at);
}

TEST_CASE("a copy of a tensor keeps its block") {
  BlockPool pool;
  const BlockPool::Runs runs = std::make_shared<std::uint64_t>();
  std::optional<Tensor> copy;
  {
    auto t = pool.allocate(ElementType::u8, {20000}, runs);
    std::memset(t.mutable_bytes(), 7, t.byte_size());
    copy = t;
  }
  auto other = pool.allocate(ElementType::u8, {20000}, runs);
  std::memset(other.mutable_bytes(), 9, other.byte_size());
  CHECK(std::to_integer<int>(copy->bytes()[0]) == 7);
  CHECK(std::to_integer<int>(copy->bytes()[19999]) == 7);
}

TEST_CASE("tensors outlive the pool") {
  std::optional<Tensor> t;
  {
    BlockPool pool;
    const BlockPool::Runs runs = std::make_shared<std::uint64_t>();
    t = pool.allocate(ElementType::f32, {10000}, runs);
    const auto given_back = pool.allocate(ElementType::f32, {10000}, runs);
  }
  std::memset(t->mutable_bytes(), 1, t->byte_size());
  CHECK(t->size() == 10000);
}

TEST_CASE("blocks are aligned, and sizes are checked") {
  BlockPool pool;
  const BlockPool::Runs runs = std::make_shared<std::uint64_t>();
  for (const i64 n : {0, 1, 4095, 16384, 100001})
    CHECK(reinterpret_cast<std::uintptr_t>(pool.allocate(ElementType::u8, {n}, runs).bytes()) % 64 == 0);
  CHECK(pool.allocate(ElementType::f64, {0, 1000}, runs).size() == 0);
  CHECK_THROWS_AS(pool.allocate(ElementType::f32, {1LL << 40, 1LL << 40}, runs), Failure);
  CHECK_THROWS_AS(pool.allocate(ElementType::f32, {1LL << 61}, runs), Failure);
}

TEST_CASE("a tensor may die in another thread") {
  BlockPool pool;
  const BlockPool::Runs runs = std::make_shared<std::uint64_t>();
  for (int round = 0; round < 100; ++round) {
    auto t = pool.allocate(ElementType::u8, {50000}, runs);
    std::memset(t.mutable_bytes(), round, t.byte_size());
    std::jthread([moved = std::move(t)]() mutable { moved = Tensor(); });
    pool.allocate(ElementType::u8, {50000}, runs);
  }
}

TEST_CASE("blocks grow old by the runs of their own plan") {
  BlockPool pool;
  const BlockPool::Runs runs = std::make_shared<std::uint64_t>(), of_body = std::make_shared<std::uint64_t>();
  const auto* at = pool.allocate(ElementType::u8, {50000}, runs).bytes();
  const auto pass = [&](const BlockPool::Runs& which, int n) {
    for (int i = 0; i < n; ++i) pool.begin_run(which);
    // No block fits, so old ones go.
    pool.allocate(ElementType::u8, {500000}, of_body);
    const auto large = pool.allocate(ElementType::u8, {500000}, of_body);
    pool.allocate(ElementType::u8, {600000}, of_body);
  };
  pass(of_body, 100);
  CHECK(pool.allocate(ElementType::u8, {50000}, runs).bytes() == at);
  pass(runs, 8);
  const auto kept = pool.allocate(ElementType::u8, {50000}, runs);
  CHECK(kept.bytes() == at);
}
