#include <string>

#include "catch.hpp"
#include "tools/fix.hpp"
#include "xml/tags.hpp"

using namespace ovir;

namespace {

std::string part(std::string_view text, xml::TextRange range) {
  return std::string(text.substr(range.begin, range.end - range.begin));
}

Replacement replace(std::size_t offset, std::size_t length, std::string text) {
  return {{nullptr, offset, length}, std::move(text)};
}

}  // namespace

TEST_CASE("attributes are found by their whole name, in either quotes") {
  const std::string_view text = R"(<a xid="1" id = '2>"' id2=""/><b id="3"/>)";
  REQUIRE(part(text, xml::find_attribute(text, 0, "id")->value) == R"(2>")");
  REQUIRE(part(text, xml::find_attribute(text, 0, "id")->name) == "id");
  REQUIRE(part(text, xml::find_attribute(text, 0, "id2")->value).empty());
  REQUIRE_FALSE(xml::find_attribute(text, 0, "i"));
  REQUIRE(part(text, xml::tag_range(text, 0)) == R"(<a xid="1" id = '2>"' id2=""/>)");
  REQUIRE(xml::tag_around(text, text.find("id2")) == 0);
}

TEST_CASE("a damaged tag has no attributes") {
  for (const std::string_view text : {"<a id=", "<a id=\"1", "<a id", "<a", "<", "<a id=1>"})
    REQUIRE_FALSE(xml::find_attribute(text, 0, "id"));
}

TEST_CASE("children are direct ones, and comments hold none") {
  const std::string_view text =
      "<p><!-- <d>0</d> --><d>1</d><q><d>2</d></q><d/><![CDATA[<d>3</d>]]><d>4</d></p><d>5</d>";
  const auto found = xml::children(text, 0, "d");
  REQUIRE(found.size() == 3);
  REQUIRE(part(text, found[0].content) == "1");
  REQUIRE(part(text, found[1].whole) == "<d/>");
  REQUIRE(part(text, found[2].whole) == "<d>4</d>");
  REQUIRE(xml::children("<p/><d>1</d>", 0, "d").empty());
  REQUIRE(xml::children("<p><d>1", 0, "d").empty());
}

TEST_CASE("replacements are made in the order of their places") {
  REQUIRE(tools::apply("0123456789", {replace(8, 2, "ab"), replace(0, 1, ""), replace(4, 0, "--")}) == "123--4567ab");
  REQUIRE(tools::apply("abc", {replace(1, 1, "x"), replace(1, 0, "1"), replace(1, 0, "2")}) == "a12xc");
  REQUIRE(tools::apply("abc", {}) == "abc");
}

TEST_CASE("changes of one place exclude each other") {
  const auto disjoint = [](std::vector<Replacement> list) { return tools::Edits{std::move(list), {}}.disjoint(); };
  REQUIRE(disjoint({}));
  REQUIRE(disjoint({replace(5, 1, "y"), replace(2, 3, "x"), replace(0, 2, "z")}));
  REQUIRE_FALSE(disjoint({replace(2, 3, "x"), replace(4, 1, "y")}));
  REQUIRE(disjoint({replace(9, 2, "c"), replace(9, 0, "a"), replace(9, 0, "b")}));
  tools::Edits edits{{replace(2, 3, "x")}, {}};
  edits.append({{replace(2, 1, "y")}, {}});
  REQUIRE_FALSE(edits.disjoint());
}

TEST_CASE("values are escaped") { REQUIRE(xml::escaped(R"(a<b>&"c")") == "a&lt;b&gt;&amp;&quot;c&quot;"); }
