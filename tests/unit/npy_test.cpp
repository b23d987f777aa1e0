#include "io/npy.hpp"

#include <fstream>
#include <limits>

#include "catch.hpp"
#include "hex.hpp"
#include "io/files.hpp"
#include "io/storable.hpp"
#include "temporary.hpp"

using namespace ovir;
using E = ElementType;

namespace {

/// A version 1 file with this dictionary and these bytes.
Bytes npy(std::string header, std::string_view data = {}) {
  header += '\n';
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 0xFF);
  text += static_cast<char>(header.size() >> 8);
  return as_file(text + header + std::string(data));
}
std::string dictionary(std::string_view descr, std::string_view shape) {
  return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, shape);
}
std::string refusal(const Bytes& file) {
  return code_of([&] { io::parse_npy(file, "x.npy"); });
}

// np.save(np.asfortranarray(np.arange(6, dtype='>i2').reshape(2, 3)))
constexpr auto kBigEndianFortran =
    "934e554d5059010076007b276465736372273a20273e6932272c2027666f727472616e5f6f72646572273a2054727565"
    "2c20277368617065273a2028322c2033292c207d20202020202020202020202020202020202020202020202020202020"
    "202020202020202020202020202020202020202020202020202020202020200a000000030001000400020005";
// np.save(np.array(['a', 'é日', '😀z']))
constexpr auto kUnicode =
    "934e554d5059010076007b276465736372273a20273c5532272c2027666f727472616e5f6f72646572273a2046616c73"
    "652c20277368617065273a2028332c292c207d2020202020202020202020202020202020202020202020202020202020"
    "202020202020202020202020202020202020202020202020202020202020200a6100000000000000e9000000e5650000"
    "00f601007a000000";

}  // namespace

TEST_CASE("big-endian elements in Fortran order") {
  const Tensor t = io::parse_npy(as_file(from_hex(kBigEndianFortran)), "x");
  CHECK(t.type() == E::i16);
  CHECK(t.shape() == Shape{2, 3});
  CHECK(to_i64(t) == std::vector<i64>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("texts") {
  const Tensor t = io::parse_npy(as_file(from_hex(kUnicode)), "x");
  CHECK(t.type() == E::string);
  CHECK(t.values<std::string_view>()[1] == "é日");
  CHECK(t.values<std::string_view>()[2] == "😀z");
  const std::string again = io::npy_bytes(t);
  CHECK(again.substr(again.size() - 24) == from_hex(kUnicode).substr(128));

  const Tensor bytes = io::parse_npy(npy(dictionary("|S3", "(2,)"), std::string_view("abcd\0\0", 6)), "x");
  CHECK(bytes.values<std::string_view>()[0] == "abc");
  CHECK(bytes.values<std::string_view>()[1] == "d");

  const Tensor odd = Tensor::strings({1}, {"\xFF"});  // no UTF-8: its bytes are kept
  CHECK(io::parse_npy(as_file(io::npy_bytes(odd)), "x").values<std::string_view>()[0] == "\xFF");
  CHECK(refusal(npy(dictionary("<U1", "(1,)"), std::string_view("\0\xD8\0\0", 4))) == "E0705");
}

TEST_CASE("what NumPy writes is used in place") {
  const Tensor t = Tensor::of<float>(E::f32, {2, 2}, std::array{1.0f, 2.0f, 3.0f, 4.0f});
  const Bytes file = as_file(io::npy_bytes(t));
  CHECK((file.size() - 16) % 64 == 0);
  const Tensor back = io::parse_npy(file, "x");
  CHECK(back.bytes() == file.view.data() + (file.size() - 16));
  CHECK(file.text().substr(10, 57) == "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2),");
}

TEST_CASE("headers that others write") {
  CHECK(to_f64(io::parse_npy(
            npy(R"({"shape": (1L, 1L), "fortran_order": True, "descr": "<f4"})", std::string_view("\0\0\x80?", 4)),
            "x")) == std::vector<double>{1});
  CHECK(io::parse_npy(npy("{'descr':'=i4','fortran_order':False,'shape':()}", std::string_view("\1\0\0\0", 4)), "x")
            .shape()
            .empty());
  // Booleans that are neither 0 nor 1 become 1.
  CHECK(io::parse_npy(npy(dictionary("|b1", "(2,)"), std::string_view("\x02\0", 2)), "x").data<std::uint8_t>()[0] == 1);
}

TEST_CASE("what is no .npy is refused") {
  const std::string four(4, '\0');
  for (const auto* const shape : {"(-1,)", "(99999999999999999999,)", "(1)", "(1,,)", "1", "(1.5,)", "(1,", "[1]"})
    CHECK(refusal(npy(dictionary("<f4", shape), four)) == "E0705");
  CHECK(refusal(npy(dictionary("<f4", "(4611686018427387904, 4)"), four)) == "E0705");
  CHECK(refusal(npy(dictionary("<f4", "(2,)"), four)) == "E0705");       // cut off
  CHECK(refusal(npy(dictionary("<f4", "(0,)"), four)) == "E0705");       // too long
  CHECK(refusal(npy(dictionary("<U0", "(999999999999,)"))) == "E0705");  // elements that take no bytes
  CHECK(refusal(npy(dictionary("<f4", "(1,)") + "x", four)) == "E0705");
  CHECK(refusal(npy("{'descr': '<f4', 'shape': (1,)}", four)) == "E0705");
  CHECK(refusal(npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", four)) == "E0705");
  CHECK(refusal(npy("{'a': 1}", four)) == "E0705");
  for (const auto* const dtype : {"|O", "<c8", "<V2", "<f16", "<M8[ns]", "", "<", "f", "|f4", "<f-4"})
    CHECK(refusal(npy(dictionary(dtype, "(1,)"), four)) == "E0704");
  CHECK(refusal(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", four)) == "E0704");
  const std::string whole = from_hex(kBigEndianFortran);
  for (std::size_t n = 0; n < whole.size(); ++n) CHECK(refusal(as_file(whole.substr(0, n))) == "E0705");
  CHECK(refusal(as_file("\x93NUMPY\x04" + whole.substr(7))) == "E0705");
}

TEST_CASE("shapes without elements that NumPy refuses are not written") {
  // Tried with NumPy: it multiplies the lengths other than 0 and the bytes of an element, and wants less than 2^63.
  const auto header = [](ElementType type, Shape shape) {
    return code_of([&] { io::npy_header(Tensor(type, std::move(shape))); });
  };
  constexpr i64 most = std::numeric_limits<i64>::max();
  CHECK(header(ElementType::f32, {0, most}) == "E0003");
  CHECK(header(ElementType::f32, {0, most / 4}) == "none");
  CHECK(header(ElementType::f32, {0, most / 4 + 1}) == "E0003");
  CHECK(header(ElementType::i8, {0, most}) == "none");
  CHECK(header(ElementType::f64, {i64{1} << 31, 0, i64{1} << 31}) == "E0003");
}

TEST_CASE("types that NumPy lacks are widened and read back") {
  for (const auto& [type, stored] : {std::pair{E::bf16, E::f32},
                                     {E::f8e4m3, E::f32},
                                     {E::nf4, E::f32},
                                     {E::f4e2m1, E::f32},
                                     {E::i4, E::i8},
                                     {E::u1, E::u8},
                                     {E::u6, E::u8},
                                     {E::f16, E::f16}}) {
    const Tensor t = convert(Tensor::vector({0, 1}), type), wide = io::storable(pack(t));
    CHECK(wide.type() == stored);
    CHECK(to_f64(wide) == std::vector<double>{0, 1});
    CHECK(to_f64(io::narrow(wide, type)) == std::vector<double>{0, 1});
  }
  const auto narrow = [](E from, double value, E to) {
    return code_of([&] { io::narrow(convert(Tensor::of<double>(E::f64, {}, std::array{value}), from), to); });
  };
  CHECK(narrow(E::f32, 1.0 / 3, E::bf16) == "E0705");
  CHECK(narrow(E::i8, 8, E::i4) == "E0705");
  CHECK(narrow(E::u8, 200, E::u6) == "E0705");
  CHECK(narrow(E::i32, 1, E::i4) == "E0704");
  CHECK(narrow(E::f32, std::numeric_limits<double>::quiet_NaN(), E::bf16) == "none");
}

TEST_CASE("booleans are stored as 0 and 1") {
  const auto counts = Tensor::of<std::uint8_t>(E::boolean, {3}, std::vector<std::uint8_t>{0, 1, 3});
  CHECK(to_f64(io::storable(counts)) == std::vector<double>{0, 1, 1});
}

TEST_CASE("files that cannot be opened or written") {
  const Temporary folder;
  CHECK(code_of([&] { io::read_npy(folder.path("missing.npy")); }) == "E0001");
  CHECK(code_of([&] { io::read_npy(folder.path(".")); }) == "E0001");
  CHECK(code_of([&] { io::write_npy(folder.path("missing/x.npy"), Tensor::scalar(1)); }) == "E0002");
  io::write_npy(folder.path("x.npy"), Tensor::vector({1, 2}));
  CHECK(to_i64(io::read_tensor(folder.path("x.npy"))) == std::vector<i64>{1, 2});
}

TEST_CASE("raw bytes") {
  const Temporary folder;
  const auto path = folder.path("x.bin");
  io::write_raw(path, convert(Tensor::vector({1, 15, 7}), E::u4));
  CHECK(map_file(path).text() == from_hex("f107"));
  CHECK(to_i64(io::read_raw(path, E::u4, {3})) == std::vector<i64>{1, 15, 7});
  CHECK(code_of([&] { io::read_raw(path, E::u4, {5}); }) == "E0705");
  CHECK(code_of([&] { io::read_raw(path, E::string, {1}); }) == "E0704");
  CHECK(code_of([&] { io::read_raw(path, E::f64, {i64{1} << 62}); }) == "E0704");
}
