#include "base/text.hpp"

#include <cstdint>

#include "base/utf8.hpp"
#include "catch.hpp"

using namespace ovir;

TEST_CASE("UTF-8") {
  const std::u32string all = U"a\u00e9\u20ac\U0001F600";
  std::string text;
  for (const auto c : all) CHECK(append_utf8(text, c));
  CHECK(text == "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK(code_points(text) == all);
  CHECK(count_code_points(text) == 4);
  CHECK_FALSE(append_utf8(text, 0xD800));
  CHECK_FALSE(append_utf8(text, 0x110000));
  // Continuations without a start, cut off, overlong, a surrogate, beyond the last code point, bytes that never occur.
  for (const auto* const wrong : {"\x80", "\xC3", "\xE2\x82", "\xC0\x80", "\xE0\x80\x80", "\xF0\x80\x80\x80",
                                  "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF", "\xC3\x28"}) {
    std::string_view rest = wrong;
    CHECK_FALSE(take_code_point(rest));
    CHECK(rest == wrong);
  }
}

TEST_CASE("trim and split") {
  CHECK(trim(" \t a b\r\n") == "a b");
  CHECK(trim("  ").empty());
  CHECK(split("", ',').empty());
  CHECK(split("a,,b", ',') == std::vector<std::string_view>{"a", "", "b"});
  CHECK(split("a,", ',') == std::vector<std::string_view>{"a", ""});
}

TEST_CASE("numbers are read whole or not at all") {
  CHECK(parse_number<i64>(" -12 ") == -12);
  CHECK(parse_number<i64>("+7") == 7);
  CHECK(parse_number<float>("1e3") == 1000.0f);
  CHECK_FALSE(parse_number<i64>("12x"));
  CHECK_FALSE(parse_number<i64>(""));
  CHECK_FALSE(parse_number<i64>("1 2"));
  CHECK_FALSE(parse_number<i64>("9223372036854775808"));
  CHECK_FALSE(parse_number<std::uint8_t>("256"));
  CHECK_FALSE(parse_number<std::uint8_t>("-1"));
}

TEST_CASE("the nearest name") {
  CHECK(nearest("stride", {"strides", "pads_begin"}) == "strides");
  CHECK(nearest("AXIS", {"axis", "axes"}) == "axis");
  CHECK(nearest("Sofmtax", {"Softmax", "Softplus"}) == "Softmax");  // two letters swapped
  CHECK_FALSE(nearest("banana", {"strides", "pads_begin"}));
  CHECK_FALSE(nearest("", {"axis"}));
  CHECK_FALSE(nearest("x", {}));
  CHECK_FALSE(nearest("c", {"a", "b"}));
  CHECK(nearest("X", {"a", "x"}) == "x");
  CHECK(nearest("GroupConvolutionBackpropDta", {"Convolution", "GroupConvolution", "GroupConvolutionBackpropData"}) ==
        "GroupConvolutionBackpropData");
  CHECK(nearest("softmx", {"Split", "Softmax", "SoftPlus"}) == "Softmax");
  CHECK_FALSE(nearest("abcdef", {"fedcba"}));
  // What all begin with says nothing.
  CHECK_FALSE(nearest("caffe.PriorBoxParameter.CENTRE",
                      {"caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE"}));
  CHECK(nearest("caffe.PriorBoxParameter.CORNR",
                {"caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE"}) ==
        "caffe.PriorBoxParameter.CORNER");
  CHECK_FALSE(nearest(std::string(300, 'a'), {"aa"}));
}

TEST_CASE("counted things") {
  CHECK(counted(1, "number") == "1 number");
  CHECK(counted(0, "number") == "0 numbers");
  CHECK(counted(1, "axis", "axes") == "1 axis");
  CHECK(counted(2, "axis", "axes") == "2 axes");
  CHECK(is_integer("-99999999999999999999"));
  CHECK_FALSE(is_integer("1.0"));
  CHECK_FALSE(is_integer("-"));
}

TEST_CASE("text for the terminal") {
  CHECK(printable("größe\t→") == "größe\t→");
  CHECK(printable("a\x1b[31mb\n") == "a\\x1B[31mb\\x0A");
  CHECK(printable("\xff\xc3") == "\\xFF\\xC3");
  CHECK(printable("\xc0\xaf") == "\\xC0\\xAF");           // an overlong form of /
  CHECK(printable("\xe2\x80\xae") == "\\xE2\\x80\\xAE");  // would turn the direction of writing
  CHECK(printable(std::string_view("\0", 1)) == "\\x00");
}

TEST_CASE("letter case") {
  CHECK(lower("FakeQuantize_1") == "fakequantize_1");
  CHECK(equals_ignoring_case("ReLU", "relu"));
  CHECK_FALSE(equals_ignoring_case("relu", "relu6"));
}
