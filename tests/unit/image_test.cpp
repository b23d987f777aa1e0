#include "io/image.hpp"

#include "catch.hpp"
#include "hex.hpp"
#include "io/onnx.hpp"

using namespace ovir;
using E = ElementType;

namespace {

// Written with Pillow: pixels (255,0,0) (0,128,255) / (1,2,3) (250,251,252).
constexpr auto kRgb =
    "89504e470d0a1a0a0000000d4948445200000002000000020802000000fdd49a730000001649444154789c63f8cfc0c0"
    "d0f09f819189f9d7ef3f001f750576f159b6570000000049454e44ae426082";
constexpr auto kPalette =
    "89504e470d0a1a0a0000000d49484452000000020000000202030000000fd8e5b70000000c504c5445fafbfc0080ff01"
    "0203ff0000e77d69f00000000c49444154789c63b8c0b40100032801835e1a0b2c0000000049454e44ae426082";
constexpr auto kRgba =
    "89504e470d0a1a0a0000000d494844520000000200000002080600000072b60d240000001a49444154789c63f8cfc0c0"
    "c0d0f09f9381918939f9d7ef3fff012e3706e1d27558230000000049454e44ae426082";
constexpr auto kGray16 =  // 0, 65535 / 7 * 257, 200 * 257
    "89504e470d0a1a0a0000000d4948445200000002000000021000000000074d8ebb0000001249444154789c636060f8ff"
    "9f899dfde449000f9303a17e825cd00000000049454e44ae426082";
constexpr auto kJpeg =  // 8x8 gray, left half 100, right half 200, quality 90
    "ffd8ffe000104a46494600010100000100010000ffdb0043000302020302020303030304030304050805050404050a07"
    "0706080c0a0c0c0b0a0b0b0d0e12100d0e110e0b0b1016101113141515150c0f171816141812141514ffc0000b080008"
    "000801011100ffc40014000100000000000000000000000000000006ffc4001810000203000000000000000000000000"
    "0000084684c3ffda0008010100003f0076a54aaa6c7fffd9";
constexpr auto kBmp =  // the same pixels as kRgb
    "424d460000000000000036000000280000000200000002000000010018000000000010000000130b0000130b00000000"
    "000000000000030201fcfbfa00000000ffff80000000";

const std::vector<i64> kPixels{255, 0, 0, 0, 128, 255, 1, 2, 3, 250, 251, 252};

Tensor image(std::string_view hex) { return io::parse_image(as_file(from_hex(hex)), "x"); }
std::string refusal(std::string_view text) {
  return code_of([&] { io::parse_image(as_file(text), "x"); });
}
Tensor gray(const Shape& shape, const std::vector<std::uint8_t>& values) {
  return Tensor::of<std::uint8_t>(E::u8, shape, values);
}
std::vector<double> input(const Tensor& t, const PartialShape& shape, const io::ImageOptions& options,
                          E type = E::f32) {
  return to_f64(io::image_input(t, type, shape, options));
}

}  // namespace

TEST_CASE("PNG") {
  for (const auto* const hex : {kRgb, kPalette, kRgba}) {
    const Tensor t = image(hex);
    CHECK(t.shape() == Shape{2, 2, 3});
    CHECK(to_i64(t) == kPixels);
  }
  CHECK(image(kGray16).shape() == Shape{2, 2, 1});
  CHECK(to_i64(image(kGray16)) == std::vector<i64>{0, 255, 7, 200});
  const std::string whole = from_hex(kRgb);
  for (std::size_t n = 0; n < whole.size() - 4; ++n) CHECK(refusal(whole.substr(0, n)) == "E0705");
}

TEST_CASE("JPEG") {
  const Tensor t = image(kJpeg);
  CHECK(t.shape() == Shape{8, 8, 1});
  CHECK(std::vector<int>(t.data<std::uint8_t>(), t.data<std::uint8_t>() + 8) ==
        std::vector<int>{100, 101, 100, 100, 200, 200, 199, 201});
  const std::string whole = from_hex(kJpeg);
  for (std::size_t n = 0; n < whole.size() - 4; ++n) CHECK(refusal(whole.substr(0, n)) == "E0705");
}

TEST_CASE("a header that claims more than its file can hold is refused before memory is taken") {
  // The sides of the samples above, as large as they may be: 16,384 x 16,384.
  std::string png = from_hex(kRgb);
  png.replace(16, 8, std::string_view("\0\0\x40\0\0\0\x40\0", 8));
  png.replace(29, 4, std::string_view("\x26\xAA\x87\xD3", 4));  // its checksum
  CHECK(refusal(png) == "E0705");
  std::string jpeg = from_hex(kJpeg);
  const auto frame = jpeg.find("\xFF\xC0");
  jpeg.replace(frame + 5, 4, std::string_view("\x40\0\x40\0", 4));
  CHECK(refusal(jpeg) == "E0705");
  jpeg.replace(frame + 5, 4, std::string_view("\xFF\x00\xFF\x00", 4));
  CHECK(refusal(jpeg) == "E0003");
}

TEST_CASE("BMP") {
  const std::string whole = from_hex(kBmp);
  const Tensor t = image(kBmp);
  CHECK(t.shape() == Shape{2, 2, 3});
  CHECK(to_i64(t) == kPixels);
  for (std::size_t n = 0; n < whole.size(); ++n) CHECK(refusal(whole.substr(0, n)) == "E0705");
  const auto with = [&](std::size_t at, std::string_view bytes) {
    std::string changed = whole;
    return refusal(changed.replace(at, bytes.size(), bytes));
  };
  CHECK(with(18, std::string_view("\0\0\x40\0\0\0\x40\0", 8)) == "E0003");  // 4,194,304 x 4,194,304
  CHECK(with(18, std::string_view("\0\x10\0\0\0\x10\0\0", 8)) == "E0705");  // 4096 x 4096
  CHECK(with(22, "\xFE\xFF\xFF\xFF") == "E0705");                           // top-down
  CHECK(with(28, "\x04") == "E0705");                                       // 4 bits per pixel
}

TEST_CASE("PGM and PPM") {
  const auto pnm = [](std::string_view text) { return io::parse_image(as_file(text), "x"); };
  CHECK(to_i64(pnm("P5 2 1 255\nAB")) == std::vector<i64>{'A', 'B'});
  CHECK(to_i64(pnm("P6\n# a comment\n1 1\n255\nabc")) == std::vector<i64>{'a', 'b', 'c'});
  CHECK(to_i64(pnm(std::string_view("P5 3 1 15\n\0\x0F\x05", 13))) == std::vector<i64>{0, 255, 85});
  for (const auto* const wrong : {"P5 2 2 255\nABC", "P5 2 255\nAB", "P5", "P5 ", "P5 #", "P5 1 1 65535\nAB",
                                  "P5 -1 1 255\nA", "P5 0 1 255\n", "P4 1 1\nA", "", "hello"})
    CHECK(refusal(wrong) == "E0705");
  CHECK(refusal("P6 99999999 99999999 255\nabc") == "E0003");
}

TEST_CASE("an image is resized bilinearly") {
  const Tensor t = gray({1, 2, 1}, {0, 100});
  CHECK(to_i64(io::resize_image(t, 4, 1)) == std::vector<i64>{0, 25, 75, 100});
  CHECK(to_i64(io::resize_image(gray({2, 2, 1}, {0, 100, 100, 200}), 1, 1)) == std::vector<i64>{100});
  CHECK(io::resize_image(t, 2, 1).bytes() == t.bytes());
  CHECK(io::parse_size("640x480") == std::pair<i64, i64>{640, 480});
  for (const auto* const wrong : {"640", "0x4", "-1x4", "640x", "axb"}) CHECK_FALSE(io::parse_size(wrong));
}

TEST_CASE("an image becomes an input") {
  const Tensor t = gray({1, 2, 3}, {1, 2, 3, 4, 5, 6});  // two pixels
  CHECK(input(t, {1, 3, 1, 2}, {}) == std::vector<double>{1, 4, 2, 5, 3, 6});
  CHECK(input(t, {1, Dim(), 2, 3}, {}) == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(input(t, {Dim(), 3, Dim(), Dim()}, {}) == std::vector<double>{1, 4, 2, 5, 3, 6});
  CHECK(input(t, PartialShape::unknown_rank(), {.layout = "HWC"}) == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(input(t, {1, 3, 1, 2}, {.reverse_channels = true, .mean = {1, 2, 3}, .scale = {2}}) ==
        std::vector<double>{1, 2.5, 0, 1.5, -1, 0.5});
  CHECK(input(t, {1, 2}, {}) == std::vector<double>{2, 5});  // luma
  CHECK(input(gray({1, 1, 1}, {9}), {1, 3, 1, 1}, {}, E::u8) == std::vector<double>{9, 9, 9});
  CHECK(input(t, {1, 3, 1, 1}, {.size = std::pair{i64{1}, i64{1}}}) == std::vector<double>{3, 4, 5});  // 2.5 rounds up
}

TEST_CASE("an image that does not fit is refused") {
  const Tensor t = gray({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const auto misfit = [&](const PartialShape& shape, const io::ImageOptions& options) {
    return code_of([&] { io::image_input(t, E::f32, shape, options); });
  };
  CHECK(misfit({1, 3, 4, 4}, {}) == "E0703");
  CHECK(misfit({2, 3, 1, 2}, {}) == "E0703");
  CHECK(misfit({1, 4, 1, 2}, {}) == "E0703");
  CHECK(misfit({5}, {}) == "E0703");
  CHECK(misfit({1, 3, 1, 2}, {.layout = "NHW"}) == "E0703");
  CHECK(misfit({1, 3, 1, 2}, {.layout = "NCHX"}) == "E0703");
  CHECK(misfit({1, 3, 1, 2}, {.layout = "NCHH"}) == "E0703");
  CHECK(misfit({1, 3, 1, 2}, {.mean = {1, 2}}) == "E0703");
}

// The .pb files were written with the onnx package.
TEST_CASE("ONNX tensors") {
  const auto pb = [](std::string_view hex) { return io::parse_onnx(as_file(from_hex(hex)), "x.pb"); };
  const Tensor raw = pb("0802080210014201744a100000c03f000000c00000404000008040");
  CHECK(raw.type() == E::f32);
  CHECK(raw.shape() == Shape{2, 2});
  CHECK(to_f64(raw) == std::vector<double>{1.5, -2, 3, 4});
  const Tensor bytes = pb("080310032a0cffffffffffffffffff01027f420174");
  CHECK(bytes.type() == E::i8);
  CHECK(to_i64(bytes) == std::vector<i64>{-1, 2, 127});
  const Tensor brain = pb("080210104201744a04c03f00c0");
  CHECK(brain.type() == E::bf16);
  CHECK(to_f64(brain) == std::vector<double>{1.5, -2});
  CHECK(pb("08021008320261623200420174").values<std::string_view>()[0] == "ab");

  const auto refused = [&](std::string_view hex) { return code_of([&] { pb(hex); }); };
  const std::string_view whole = "0802080210014201744a100000c03f000000c00000404000008040";
  for (std::size_t n = 0; n < whole.size(); n += 2) CHECK(refused(whole.substr(0, n)) == "E0705");
  CHECK(refused("0802100e4a00") == "E0704");                    // complex64
  CHECK(refused("08ffffffffffffffffff0110014a00") == "E0705");  // a dim of -1
  CHECK(refused("08ffffffffffffffff7f08ffffffffffffffff7f10014a00") == "E0705");
  CHECK(refused("0802100170016a00") == "E0705");  // external data
}
