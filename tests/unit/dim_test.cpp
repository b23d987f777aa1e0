#include "tensor/dim.hpp"

#include "catch.hpp"

using namespace ovir;

namespace {
constexpr auto kMax = Dim::kUnbounded;
std::string text(const std::optional<Dim>& d) { return d ? to_string(*d) : "none"; }
std::string text(const std::optional<PartialShape>& s) { return s ? to_string(*s) : "none"; }
std::string read(std::string_view s) { return text(parse_shape(s)); }
}  // namespace

TEST_CASE("arithmetic of lengths") {
  CHECK(Dim(2, 4) + Dim(3) == Dim(5, 7));
  CHECK(Dim(2, kMax) + Dim(3) == Dim(5, kMax));
  CHECK(Dim(2, 4) - Dim(3) == Dim(0, 1));
  CHECK(Dim(5, 9) - Dim() == Dim(0, 9));
  CHECK(Dim(2, 4) * Dim(3, 5) == Dim(6, 20));
  CHECK(Dim() * Dim(0) == Dim(0));
  CHECK(div_floor(Dim(5, 9), 2) == Dim(2, 4));
  CHECK(div_ceil(Dim(5, 9), 2) == Dim(3, 5));
  CHECK(div_ceil(Dim(5, kMax), 2) == Dim(3, kMax));
}

TEST_CASE("an overflowing length is not a known one") {
  const Dim huge(i64{1} << 40);
  const Dim product = huge * huge;
  CHECK_FALSE(product.is_static());
  CHECK_FALSE((huge * huge + huge).is_static());
  CHECK(PartialShape({huge, huge, Dim(0)}).element_count() == Dim(0));
}

TEST_CASE("a symbol stays where the length is the same") {
  const Dim n(1, 8, 5);
  CHECK((n + Dim(0)).symbol == 5);
  CHECK((Dim(1) * n).symbol == 5);
  CHECK((n + Dim(1)).symbol == 0);
  CHECK(div_floor(n, 1).symbol == 5);
  CHECK(intersect(Dim(), n)->symbol == 5);
  CHECK(hull(n, n).symbol == 5);
  CHECK(hull(n, Dim(1, 8, 6)).symbol == 0);
  CHECK(broadcast(n, n)->symbol == 5);
  CHECK(broadcast(n, Dim(1))->symbol == 5);
  CHECK(broadcast(n, Dim())->symbol == 0);
}

TEST_CASE("broadcasting lengths") {
  CHECK(text(broadcast(Dim(3), Dim(1))) == "3");
  CHECK(text(broadcast(Dim(3), Dim(4))) == "none");
  CHECK(text(broadcast(Dim(0), Dim(1))) == "0");
  CHECK(text(broadcast(Dim(), Dim(3))) == "3");
  CHECK(text(broadcast(Dim(), Dim(1))) == "?");
  CHECK(text(broadcast(Dim(2, 5), Dim(4, 9))) == "4..5");
  CHECK(text(broadcast(Dim(2, 3), Dim(4, 9))) == "none");
  CHECK(text(broadcast(Dim(1, 3), Dim(4, 9))) == "4..9");
  CHECK(text(broadcast(Dim(1, 3), Dim(1, 9))) == "1..9");
}

TEST_CASE("shapes meet and join") {
  const PartialShape a{2, Dim(1, 4), Dim()}, b{Dim(), Dim(3, 9), 7}, unknown = PartialShape::unknown_rank();
  CHECK(text(intersect(a, b)) == "[2,3..4,7]");
  CHECK(text(intersect(a, unknown)) == "[2,1..4,?]");
  CHECK(text(intersect(a, PartialShape{2})) == "none");
  CHECK(to_string(hull(a, b)) == "[?,1..9,?]");
  CHECK(to_string(hull(a, PartialShape{2})) == "[...]");
  CHECK(text(broadcast(PartialShape{4, 1}, PartialShape{2, 1, 3})) == "[2,4,3]");
  CHECK(text(broadcast(PartialShape{4, 2}, PartialShape{3})) == "none");
  CHECK(text(broadcast(a, unknown)) == "[...]");
  CHECK(a.compatible(b));
  CHECK_FALSE(a.compatible(PartialShape{3, 1, 1}));
  CHECK(a.contains(Shape{2, 4, 100}));
  CHECK_FALSE(a.contains(Shape{2, 5, 100}));
  CHECK(unknown.contains(Shape{1}));
  CHECK(unknown.element_count() == Dim());
  CHECK(a.element_count() == Dim(0, kMax));
}

TEST_CASE("shapes are read and written") {
  for (const auto* const same : {"[]", "[1,?,3..5]", "[...]", "[2..]", "[0..4]", "[9223372036854775806]"})
    CHECK(read(same) == same);
  CHECK(read(" 1, -1 ,3..5 ") == "[1,?,3..5]");
  CHECK(read("...") == "[...]");
  CHECK(read("[..7]") == "[0..7]");
  CHECK(read("") == "[]");
  for (const auto* const wrong : {"[1", "1]", "[1,]", "[,1]", "[-2]", "[5..3]", "[..]", "[x]", "[1.5]",
                                  "[99999999999999999999]", "[9223372036854775807]", "[", "[1 2]"})
    CHECK(read(wrong) == "none");
}

TEST_CASE("what is wrong with a shape") {
  CHECK(why_no_shape("2,-3") == "-3 is negative");
  CHECK(why_no_shape("2,,3") == "a dim is missing beside a comma");
  CHECK(why_no_shape("5..2") == "the range 5..2 is empty");
  CHECK(why_no_shape("2,x") == "\"x\" is not a length, a range or ?");
  CHECK(why_no_shape("[2") == "a bracket is missing");
  CHECK(why_no_shape("9223372036854775807") == "9223372036854775807 is too large");
  CHECK(why_no_shape("99999999999999999999") == "99999999999999999999 does not fit in 64 bits");
  CHECK(why_no_shape("1..-2") == "-2 is negative");
}
