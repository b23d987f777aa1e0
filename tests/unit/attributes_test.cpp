// Attributes as text: what is printed is read again as what it was.
#include "op/attributes.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "catch.hpp"
#include "op/infer_context.hpp"
#include "ovir.hpp"

namespace ovir {
namespace {

enum class Mode { corner, center };
constexpr auto words(Mode) {
  return std::to_array<Word<Mode>>({{"corner", Mode::corner}, {"center", Mode::center}, {"middle", Mode::center}});
}

struct Attrs {
  i64 axis = -1;
  float ratio = 0.1F;
  Mode mode = Mode::center;
  std::optional<std::vector<Mode>> modes;
  std::vector<std::string> texts;
};
constexpr auto kAttrs =
    attributes<Attrs, Attr<"axis", &Attrs::axis, kRequired>, Attr<"ratio", &Attrs::ratio>, Attr<"mode", &Attrs::mode>,
               Attr<"modes", &Attrs::modes>, Attr<"texts", &Attrs::texts>>;

template <class T>
void round_trip(const T& value) {
  const auto text = detail::print_attribute(value);
  REQUIRE(text);
  CAPTURE(*text);
  CHECK(detail::parse_attribute<T>(*text) == value);
}

/// Texts that an attribute of this kind takes, one element each.
std::vector<std::string> samples(const AttributeDef& def) {
  switch (def.kind) {
    case AttributeKind::boolean: return {"true", "false"};
    case AttributeKind::integer: return {"0", "1", "7"};
    case AttributeKind::number: return {"0", "1", "-0.5", "0.0625"};
    case AttributeKind::text: return {"", "abc"};
    case AttributeKind::element_type: return {"dynamic", "f32", "i64", "boolean", "string"};
    case AttributeKind::shape: return {"", "...", "1,?,2..5,3..", "0"};
    case AttributeKind::word: return {def.words.begin(), def.words.end()};
  }
  return {};
}

}  // namespace

TEST_CASE("every value of an attribute survives printing and parsing") {
  round_trip(true);
  round_trip(false);
  for (const auto n : {i64{0}, i64{-1}, INT64_MIN, INT64_MAX}) round_trip(n);
  for (const auto x : {0.1F, 1e-9F, -0.0F, 3.4028235e38F, 1e-45F, std::numeric_limits<float>::infinity()})
    round_trip(x);
  for (const auto x : {0.1, 1e-9, 1.0 / 3, 1.7976931348623157e308, 5e-324}) round_trip(x);
  CHECK(std::isnan(detail::parse_attribute<float>(*detail::print_attribute(NAN))));
  for (int t = 0; t < kElementTypeCount; ++t) round_trip(static_cast<ElementType>(t));
  for (const auto* shape : {"...", "", "1,?,3", "1..8,2..,0"}) round_trip(*parse_shape(shape));
  round_trip(std::vector<i64>{});
  round_trip(std::vector<i64>{-1, 0, 3});
  round_trip(std::vector<double>{0.5, 0.1});
  round_trip(std::vector{Mode::center, Mode::corner});
  round_trip(std::optional(std::vector<i64>{}));
  CHECK_FALSE(detail::print_attribute(std::optional<i64>()));
}

TEST_CASE("a table says what an attribute is, and its default") {
  const auto& defs = kAttrs.defs;
  CHECK(defs[0].kind == AttributeKind::integer);
  CHECK_FALSE(kAttrs.default_of(defs[0]));
  CHECK(kAttrs.default_of(defs[1]) == "0.1");
  CHECK(kAttrs.default_of(defs[2]) == "center");
  CHECK(std::vector(defs[2].words.begin(), defs[2].words.end()) ==
        std::vector<std::string_view>{"corner", "center", "middle"});
  CHECK((defs[3].kind == AttributeKind::word && defs[3].list && defs[3].words.size() == 3));
  CHECK_FALSE(kAttrs.default_of(defs[3]));
  CHECK((defs[4].kind == AttributeKind::text && defs[4].list));
}

TEST_CASE("attributes are read as what they are") {
  const auto made = kAttrs.make();
  CHECK(kAttrs.as<Attrs>(made.get()).axis == -1);
  struct Other {};
  CHECK_THROWS_AS(kAttrs.as<Other>(made.get()), std::logic_error);
  CHECK_THROWS_AS(kAttrs.as<Attrs>(nullptr), std::logic_error);
  CHECK_THROWS_AS(AttributeTable{}.as<Attrs>(made.get()), std::logic_error);
}

TEST_CASE("every attribute of every operation is printed as it is parsed") {
  std::size_t count = 0;
  for (const auto* op : operations().ops)
    for (const auto& version : op->versions)
      for (const auto& def : version.attrs.defs) {
        CAPTURE(op->type, version.since, def.name);
        const auto attrs = version.attrs.make();
        if (const auto text = def.print(attrs.get())) {
          const auto again = version.attrs.make();
          def.set(again.get(), *text);
          CHECK(def.print(again.get()) == text);
        }
        for (auto text : samples(def)) {
          if (def.list && !text.empty()) text += "," + text;
          def.set(attrs.get(), text);
          const auto printed = def.print(attrs.get());
          REQUIRE(printed);
          CAPTURE(text, *printed);
          if (def.kind != AttributeKind::word) CHECK(*printed == text);
          const auto again = version.attrs.make();
          def.set(again.get(), *printed);
          CHECK(def.print(again.get()) == printed);
          ++count;
        }
        CHECK((def.kind == AttributeKind::word) == !def.words.empty());
      }
  CHECK(count > 1000);
}

TEST_CASE("every version of an operation names its specification") {
  for (const auto* op : operations().ops)
    for (const auto& version : op->versions) {
      const auto spec = spec_of(*op, version);
      CAPTURE(op->type, spec);
      CHECK(std::count(spec.begin(), spec.end(), '/') == 1);
    }
}

}  // namespace ovir
