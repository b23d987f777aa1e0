#include "tensor/shape.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "diag/diagnostic.hpp"
#include "tensor/dim.hpp"

using namespace ovir;

namespace {

Shape counting(i64 rank) {
  Shape shape(rank);
  std::iota(shape.begin(), shape.end(), 1);
  return shape;
}

}  // namespace

static_assert(std::is_nothrow_move_constructible_v<Shape> && std::is_nothrow_move_assignable_v<Shape>);

TEST_CASE("a shape is a list with a signed index") {
  Shape shape{2, 3, 5};
  const i64 last = shape.rank() - 1;
  CHECK(shape.rank() == 3);
  CHECK(shape.size() == 3u);
  CHECK(shape[last] == 5);
  shape[last] = 7;
  CHECK(shape == Shape{2, 3, 7});
  CHECK(shape.front() == 2);
  CHECK(shape.back() == 7);
  CHECK(Shape(2, 3) == Shape{3, 3});
  CHECK(Shape(2) == Shape{0, 0});
  CHECK(Shape().empty());
  CHECK(shape == Shape(std::vector<i64>{2, 3, 7}));
  CHECK(shape != Shape{2, 3});
  CHECK(to_string(shape) == "[2,3,7]");
  CHECK(to_string(Shape()) == "[]");
}

TEST_CASE("the number of elements of a shape is checked") {
  constexpr auto max = std::numeric_limits<i64>::max();
  CHECK(Shape{2, 3, 5}.count() == 30);
  CHECK(Shape().count() == 1);
  CHECK(Shape{max, 1}.count() == max);
  CHECK(Shape{max, 2, 0}.count() == 0);
  CHECK_THROWS_AS((Shape{max, 2}.count()), Failure);
  CHECK_THROWS_AS((Shape{2, -1}.count()), Failure);
}

TEST_CASE("a shape grows and shrinks across the axes it holds in place") {
  for (const i64 rank : {0, 1, 7, 8, 9, 20}) {
    CAPTURE(rank);
    const std::vector<i64> values = [&] {
      const auto shape = counting(rank);
      return std::vector<i64>(shape.begin(), shape.end());
    }();
    Shape grown;
    for (const auto v : values) grown.push_back(v);
    CHECK(grown == counting(rank));
    CHECK(grown.rank() == rank);

    grown.insert(grown.begin(), 0);
    grown.insert(grown.end(), {-1, -2});
    auto expected = values;
    expected.insert(expected.begin(), 0);
    expected.insert(expected.end(), {-1, -2});
    CHECK(grown == Shape(expected));

    CHECK(*grown.erase(grown.begin()) == expected[1]);
    grown.pop_back();
    grown.pop_back();
    CHECK(grown == counting(rank));

    Shape doubled = counting(rank);
    doubled.insert(doubled.begin() + rank / 2, doubled.begin(), doubled.end());
    expected = values;
    expected.insert(expected.begin() + rank / 2, values.begin(), values.end());
    CHECK(doubled == Shape(expected));
    doubled.erase(doubled.begin() + rank / 2, doubled.begin() + rank / 2 + rank);
    CHECK(doubled == counting(rank));

    doubled.resize(rank + 2, 6);
    CHECK(doubled.rank() == rank + 2);
    CHECK(doubled.back() == 6);
    doubled.resize(3, 6);
    CHECK(doubled.rank() == 3);
    doubled.clear();
    CHECK(doubled.empty());
    doubled.push_back(4);
    CHECK(doubled == Shape{4});
  }
}

TEST_CASE("up to eight axes a shape lies in place") {
  const auto in_place = [](const Shape& s) {
    const auto* at = reinterpret_cast<const std::byte*>(s.data());
    const auto* begin = reinterpret_cast<const std::byte*>(&s);
    return std::less_equal<>()(begin, at) && std::less<>()(at, begin + sizeof(s));
  };
  CHECK(in_place(counting(0)));
  CHECK(in_place(counting(8)));
  CHECK_FALSE(in_place(counting(9)));
}

TEST_CASE("copies and moves of shapes") {
  for (const i64 from : {0, 3, 8, 9, 12}) {
    for (const i64 to : {0, 3, 8, 9, 12}) {
      CAPTURE(from, to);
      const Shape source = counting(from);
      Shape copy = counting(to);
      copy = source;
      CHECK(copy == source);
      Shape moved = counting(to);
      moved = std::move(copy);
      CHECK(moved == source);
      copy = counting(to);  // what was moved from takes a new value
      CHECK(copy == counting(to));
      const Shape constructed = std::move(moved);
      CHECK(constructed == source);
    }
    Shape self = counting(from);
    const auto& same = self;
    self = same;
    CHECK(self == counting(from));
    if (from == 0) continue;
    Shape other = self;
    other[0] = 99;
    CHECK(self[0] == 1);
  }
}
