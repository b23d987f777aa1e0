#include "io/literal.hpp"

#include <cmath>

#include "base/bytes.hpp"
#include "catch.hpp"
#include "hex.hpp"
#include "io/generate.hpp"
#include "temporary.hpp"

using namespace ovir;
using E = ElementType;

namespace {

std::string refusal(std::string_view text) {
  return code_of([&] { io::parse_literal(text); });
}
Tensor made(std::string_view word, E type, const Shape& shape, std::uint64_t seed = 1) {
  return io::generate(*io::parse_generator(word), type, shape, seed);
}

}  // namespace

TEST_CASE("literals") {
  const auto t = io::parse_literal("2x3xf32=1 2 3 4 5.5 -6e0");
  REQUIRE(t);
  CHECK(t->shape() == Shape{2, 3});
  CHECK(to_f64(*t) == std::vector<double>{1, 2, 3, 4, 5.5, -6});
  CHECK(io::parse_literal("f32=3")->shape().empty());
  CHECK(io::parse_literal("0xi64=")->size() == 0);
  CHECK(to_i64(*io::parse_literal("3xboolean=true,false, 1")) == std::vector<i64>{1, 0, 1});
  CHECK(io::parse_literal("u64=18446744073709551615")->data<std::uint64_t>()[0] == 18446744073709551615u);
  CHECK(to_i64(*io::parse_literal("2xi64=-9223372036854775808 9007199254740993")) ==
        std::vector<i64>{std::numeric_limits<i64>::min(), 9007199254740993});
  CHECK(std::isnan(to_f64(*io::parse_literal("f16=nan"))[0]));
  CHECK(to_f64(*io::parse_literal("nf4=0.33791524171829224"))[0] == 0.33791524171829224f);
  CHECK(to_i64(*io::parse_literal("2xi4=-8 7")) == std::vector<i64>{-8, 7});
  CHECK(to_f64(*io::parse_literal("2xf64=1e-400 -1e-400")) == std::vector<double>{0, 0});  // as 1e-50 in f32
  CHECK_THROWS_WITH(io::parse_literal("f64=1e400"), "1e400 is outside the range of every element type");
  CHECK_THROWS_WITH(io::parse_generator("const:-1e400"), "-1e400 is outside the range of every element type");
  CHECK(refusal("i8=1e-400") == "E0705");
  CHECK(refusal("f64=1e400x") == "E0705");
  const auto wide = io::parse_literal("2xnf4=0.5 1", true);
  CHECK(wide->type() == E::f32);
  CHECK(to_f64(*wide) == std::vector<double>{0.5, 1});
}

TEST_CASE("literal texts") {
  const auto strings = [](std::string_view text) {
    const auto t = io::parse_literal(text);
    std::vector<std::string> all(t->values<std::string_view>().begin(), t->values<std::string_view>().end());
    return all;
  };
  CHECK(strings("2xstring=a b") == std::vector<std::string>{"a", "b"});
  CHECK(strings(R"(2xstring="a \"b\"", c)") == std::vector<std::string>{"a \"b\"", "c"});
  CHECK(strings("string=two words") == std::vector<std::string>{"two words"});
  CHECK(refusal("1xstring=\"a") == "E0705");
}

TEST_CASE("raw files as literals") {
  const Temporary folder;
  write_file(folder.path("r.bin"), std::string_view("\1\0\2\0", 4));
  CHECK(to_i64(*io::parse_literal("2xi16=@" + folder.path("r.bin"))) == std::vector<i64>{1, 2});
  CHECK(refusal("3xi16=@" + folder.path("r.bin")) == "E0705");
  CHECK(refusal("3xi16=@" + folder.path("none")) == "E0001");
}

TEST_CASE("what is no literal, and faulty ones") {
  for (const auto* const other :
       {"zeros", "@x.npy", "images=zeros", "2x-1xf32=1", "?xf32=1", "xf32=1", "2x3=1", "dynamic=1", "=1", "2 3 f32=1"})
    CHECK_FALSE(io::parse_literal(other));
  for (const auto* const faulty : {"2xf32=1", "f32=", "f32=1 2", "f32=abc", "f32=1x", "u8=256", "u8=-1", "i4=8",
                                   "i32=1.5", "i32=nan", "f16=1e6", "f8e4m3=1000", "nf4=0.5", "f4e2m1=5", "boolean=2",
                                   "i64=9223372036854775808", "99999999999x99999999999xf32=1", "2xf32=1,,"})
    CHECK(refusal(faulty) == "E0705");
}

TEST_CASE("made-up inputs") {
  CHECK(to_f64(made("zeros", E::f32, {2})) == std::vector<double>{0, 0});
  CHECK(to_i64(made("ones", E::boolean, {2})) == std::vector<i64>{1, 1});
  CHECK(to_f64(made("const:-2.5", E::f16, {1, 2})) == std::vector<double>{-2.5, -2.5});
  CHECK(to_i64(made("arange", E::u8, {2, 2})) == std::vector<i64>{0, 1, 2, 3});
  CHECK(made("zeros", E::string, {2}).values<std::string_view>()[1].empty());
  CHECK_FALSE(io::parse_generator("random"));
  for (const auto* const faulty : {"const:x", "rand:1", "rand:2,1", "rand:0,inf", "randn:0,-1", "randn:a,1"})
    CHECK(code_of([&] { io::parse_generator(faulty); }) == "E0705");
  CHECK(code_of([] { made("const:2.5", E::i32, {1}); }) == "E0705");
  CHECK(code_of([] { made("rand:0,300", E::u8, {1}); }) == "E0705");
  CHECK(code_of([] { made("rand", E::string, {1}); }) == "E0704");
}

TEST_CASE("random inputs depend on the seed alone") {
  // SplitMix64's own first numbers from seed 0.
  const Tensor words = made("rand:0,4294967296", E::u32, {2}, 0);
  CHECK(words.data<std::uint32_t>()[0] == (0xE220A8397B1DCDAFu & 0xFFFFFFFFu));
  CHECK(words.data<std::uint32_t>()[1] == (0x6E789E6AA1B965F4u & 0xFFFFFFFFu));
  CHECK(made("rand", E::f64, {1}, 0).data<double>()[0] ==
        static_cast<double>(0xE220A8397B1DCDAFu >> 11) / 9007199254740992.0);
  CHECK(to_f64(made("rand", E::f32, {9}, 7)) == to_f64(made("rand", E::f32, {9}, 7)));
  CHECK(to_f64(made("rand", E::f32, {9}, 7)) != to_f64(made("rand", E::f32, {9}, 8)));

  const auto normal = to_f64(made("randn:5,2", E::f64, {50000}));
  double mean = 0, square = 0;
  for (const auto x : normal) mean += x / 50000;
  for (const auto x : normal) square += (x - mean) * (x - mean) / 50000;
  CHECK(std::abs(mean - 5) < 0.05);
  CHECK(std::abs(square - 4) < 0.1);
  for (const auto x : to_i64(made("rand:3,5", E::i8, {100}))) CHECK((x == 3 || x == 4));
  for (const auto x : to_i64(made("rand", E::u2, {100}))) CHECK((x >= 0 && x < 4));
}
