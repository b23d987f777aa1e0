#include "tools/lengths.hpp"

#include "catch.hpp"

using namespace ovir;
using namespace ovir::tools;
using List = std::vector<i64>;

namespace {
/// Every question counts: how few they are matters as much as the answer.
struct Asked {
  std::function<bool(i64)> accepts;
  int questions = 0;
  Lengths operator()(i64 base) {
    return search_lengths(base, [this](i64 n) {
      ++questions;
      return accepts(n);
    });
  }
};
Lengths found(i64 base, const std::function<bool(i64)>& accepts) { return search_lengths(base, accepts); }
}  // namespace

TEST_CASE("any length") {
  Asked ask{[](i64) { return true; }};
  const auto r = ask(224);
  CHECK(r.min == 1);
  CHECK(!r.max);
  CHECK(r.step == 1);
  CHECK(r.also.empty());
  CHECK(!r.below);
  CHECK(!r.above);
  CHECK(!r.between);
  CHECK(r.contains(1000000));
  CHECK(ask.questions < 100);
}

TEST_CASE("one length") {
  Asked ask{[](i64 n) { return n == 3; }};
  const auto r = ask(3);
  CHECK(r.only_base());
  CHECK(r.below == 2);
  CHECK(r.above == 4);
  CHECK(ask.questions < 100);
  CHECK(found(1, [](i64 n) { return n == 1; }).below == std::nullopt);
}

TEST_CASE("a stretch") {
  const auto r = found(224, [](i64 n) { return n >= 193 && n <= 640; });
  CHECK(r.min == 193);
  CHECK(r.max == 640);
  CHECK(r.below == 192);
  CHECK(r.above == 641);
  CHECK(!r.contains(192));
  CHECK(r.contains(640));
}

TEST_CASE("steps, and what is refused between them") {
  const auto r = found(64, [](i64 n) { return n % 32 == 0 && n >= 64; });
  CHECK(r.min == 64);
  CHECK(!r.max);
  CHECK(r.step == 32);
  CHECK(r.below == 32);
  CHECK(r.between == 65);
  const auto odd = found(7, [](i64 n) { return n % 4 == 3 && n <= 99; });
  CHECK(odd.min == 3);
  CHECK(odd.max == 99);
  CHECK(odd.step == 4);
  CHECK(odd.above == 103);
  const auto top = found(512, [](i64 n) { return n % 128 == 0 && n <= 512; });
  CHECK(top.step == 128);
  CHECK(top.min == 128);
  CHECK(top.max == 512);
}

TEST_CASE("steps longer than those tried one by one") {
  CHECK(found(160, [](i64 n) { return n % 80 == 0; }).step == 80);
  CHECK(found(99, [](i64 n) { return n % 99 == 0; }).step == 99);
  CHECK(found(198, [](i64 n) { return n % 99 == 0; }).step == 99);
}

TEST_CASE("1 broadcasts") {
  const auto one = found(7, [](i64 n) { return n == 7 || n == 1; });
  CHECK(one.min == 7);
  CHECK(one.max == 7);
  CHECK(one.also == List{1});
  CHECK(!one.only_base());
  const auto steps = found(8, [](i64 n) { return n % 4 == 0 || n == 1; });
  CHECK(steps.min == 4);
  CHECK(steps.step == 4);
  CHECK(steps.also == List{1});
  const auto mask = found(4, [](i64 n) { return n >= 3 || n == 1; });
  CHECK(mask.min == 3);
  CHECK(mask.step == 1);
  CHECK(mask.also == List{1});
  CHECK(mask.below == 2);
  CHECK(found(9, [](i64 n) { return n % 4 == 1; }).min == 1);
  CHECK(found(2, [](i64 n) { return n <= 2; }).min == 1);
}

TEST_CASE("no rule") {
  const auto powers = found(8, [](i64 n) { return (n & (n - 1)) == 0; });
  CHECK(powers.irregular());
  CHECK(powers.also == List{1, 2, 4, 8, 16, 32, 64, 128});
  CHECK(powers.from == 1);
  CHECK(powers.to == 128);
  CHECK(powers.below == 7);
  CHECK(powers.above == 9);
  const auto hole = found(10, [](i64 n) { return n < 20 || n > 23; });
  CHECK(hole.irregular());
  const auto far = found(1000, [](i64 n) { return n % 7 == 6 || n % 11 == 10; });
  CHECK(far.irregular());
  CHECK(far.from == 936);
  CHECK(far.contains(1000));
}

TEST_CASE("out of budget") {
  int left = 10;
  const auto r = found(1, [&](i64) { return left-- > 0 ? true : throw OutOfBudget(); });
  CHECK(r.cut);
  CHECK(r.min == 1);
  left = 3;
  CHECK(found(5, [&](i64) { return left-- > 0 ? false : throw OutOfBudget(); }).cut);
}

TEST_CASE("lengths out of the ordinary") {
  CHECK(found(0, [](i64) { return true; }).min == 0);
  CHECK(found(0, [](i64) { return false; }).only_base());
  const auto huge = std::numeric_limits<i64>::max();
  CHECK(found(huge, [](i64) { return true; }).only_base());
  CHECK(!found(3000000, [](i64) { return true; }).max);
}
