#include "tensor/tensor.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/half.hpp"
#include "catch.hpp"
#include "hex.hpp"
#include "tensor/dispatch.hpp"
#include "tensor/walk.hpp"

using namespace ovir;
using E = ElementType;

namespace {

template <class T>
Tensor vector(E type, const std::vector<T>& values) {
  return Tensor::of<T>(type, {static_cast<i64>(values.size())}, values);
}
Tensor floats(const std::vector<float>& values) { return vector<float>(E::f32, values); }

}  // namespace

TEST_CASE("bytes at an address at which no element may lie are copied when somebody asks for them") {
  const auto storage = allocate(64);
  const std::vector<float> values{1, -2.5F, 3};
  std::memcpy(storage.get() + 1, values.data(), 12);
  const auto t = Tensor::anywhere(E::f32, {3}, storage, storage.get() + 1);
  CHECK(t.source() == storage.get() + 1);
  CHECK_FALSE(t.exclusive());
  const auto copy = t.copied();
  const auto same = t.reshaped({1, 3});
  CHECK(std::equal(values.begin(), values.end(), same.data<float>()));
  CHECK(t.bytes() == same.bytes());  // once for all who share them
  CHECK(std::equal(values.begin(), values.end(), t.view().as<const float>()));
  CHECK(std::equal(values.begin(), values.end(), copy.data<float>()));
  CHECK(copy.bytes() != t.bytes());
  const auto apart = t.apart();
  CHECK(apart.bytes() != t.bytes());
  CHECK(std::equal(values.begin(), values.end(), apart.data<float>()));

  const auto aligned = Tensor::anywhere(E::f32, {3}, storage, storage.get() + 4);
  CHECK(aligned.bytes() == storage.get() + 4);
  CHECK(aligned.apart().bytes() == aligned.bytes());
  CHECK(Tensor::anywhere(E::u4, {3}, storage, storage.get() + 1).packed());
}

TEST_CASE("a tensor that is widened when somebody asks for its elements") {
  const auto from = convert(floats({0.5F, -3, 65504}), E::f16);
  const auto storage = allocate(64);
  std::memcpy(storage.get() + 1, from.bytes(), 6);
  for (const auto& narrow : {from, Tensor::anywhere(E::f16, {3}, storage, storage.get() + 1)}) {
    const auto t = Tensor::widened(narrow);
    CHECK(t.type() == E::f32);
    CHECK(t.shape() == Shape{3});
    CHECK(t.byte_size() == 12);
    CHECK_FALSE(t.file_part());
    CHECK(t.copied().values<float>()[1] == -3);
    CHECK(t.borrowed().values<float>()[2] == 65504);
    CHECK(t.source() == t.bytes());
    CHECK(t.apart().bytes() != t.bytes());
    CHECK(t.apart().values<float>()[1] == -3);
  }
}

TEST_CASE("a tensor that is made when somebody asks for its elements") {
  int made = 0;
  const auto t = Tensor::deferred(E::f32, {2}, [&made] { return floats({1, static_cast<float>(++made)}); });
  const auto same = t;
  CHECK(made == 0);
  CHECK(same.values<float>()[1] == 1);
  CHECK(t.bytes() == same.bytes());
  CHECK(t.apart().values<float>()[1] == 2);
  CHECK(t.values<float>()[1] == 1);
  CHECK(made == 2);
  const auto refused = Tensor::deferred(E::f32, {2}, []() -> Tensor { throw std::bad_alloc(); });
  CHECK_THROWS_AS(refused.bytes(), std::bad_alloc);
  CHECK_THROWS_AS(refused.copied(), std::bad_alloc);
}

TEST_CASE("names of element types") {
  for (int i = 0; i < kElementTypeCount; ++i) {
    const auto type = static_cast<E>(i);
    CHECK(parse_element_type(name(type)) == type);
    CHECK(parse_element_type(precision_name(type)) == type);
  }
  CHECK(parse_element_type("FP16") == E::f16);
  CHECK(parse_element_type("bool") == E::boolean);
  CHECK(parse_element_type("BIN") == E::u1);
  CHECK(parse_element_type("undefined") == E::dynamic);
  CHECK_FALSE(parse_element_type("float"));
  CHECK_FALSE(parse_element_type(""));
}

TEST_CASE("sizes in a .bin file") {
  CHECK(packed_size(E::f32, 3) == 12);
  CHECK(packed_size(E::u1, 9) == 2);
  CHECK(packed_size(E::u2, 5) == 2);
  CHECK(packed_size(E::u3, 9) == 6);
  CHECK(packed_size(E::u4, 3) == 2);
  CHECK(packed_size(E::u6, 5) == 6);
  CHECK(packed_size(E::u4, 0) == 0);
  CHECK_FALSE(packed_size(E::f64, i64{1} << 61));
  CHECK_FALSE(packed_size(E::string, 1));
  CHECK_FALSE(packed_size(E::u8, -1));
}

// The bytes are what OpenVINO 2026.4.1 serializes for these constants.
TEST_CASE("elements narrower than a byte") {
  const std::vector<std::pair<E, std::pair<std::vector<int>, std::string>>> cases{
      {E::u1, {{1, 0, 1, 1, 0, 0, 0, 1, 1}, "b180"}},
      {E::u2, {{0, 1, 2, 3, 3}, "e403"}},
      {E::u3, {{0, 1, 2, 3, 4, 5, 6, 7, 5}, "1b1b0f400080"}},
      {E::u4, {{1, 15, 7}, "f107"}},
      {E::i4, {{-8, 7, -1}, "780f"}},
      {E::u6, {{0, 21, 42, 63, 33}, "05af1b100080"}}};
  for (const auto& [type, data] : cases) {
    const auto& [values, hex] = data;
    INFO(name(type));
    const Bytes file = as_file(from_hex(hex));
    const Tensor packed(type, {static_cast<i64>(values.size())}, file.owner, file.view.data(), true);
    CHECK(packed.byte_size() == file.size());
    const Tensor open = packed.unpacked();
    for (std::size_t i = 0; i < values.size(); ++i)
      CHECK(static_cast<int>(type == E::i4 ? open.data<std::int8_t>()[i] : open.data<std::uint8_t>()[i]) == values[i]);
    const Tensor again = pack(open);
    REQUIRE(again.byte_size() == file.size());
    CHECK(std::string_view(reinterpret_cast<const char*>(again.bytes()), again.byte_size()) == file.text());
  }
}

TEST_CASE("packing is undone by unpacking, at every length") {
  for (const auto type : {E::u1, E::u2, E::u3, E::u4, E::i4, E::u6, E::nf4, E::f4e2m1}) {
    for (int n = 0; n < 20; ++n) {
      std::vector<std::uint8_t> codes;
      for (int i = 0; i < n; ++i)
        codes.push_back(static_cast<std::uint8_t>((i * 37 + 11) & ((1 << bit_width(type)) - 1)));
      if (type == E::i4)
        for (auto& c : codes) c = static_cast<std::uint8_t>((c ^ 8) - 8);
      const Tensor back = pack(vector(type, codes)).unpacked();
      CHECK(std::vector<std::uint8_t>(back.values<std::uint8_t>().begin(), back.values<std::uint8_t>().end()) == codes);
    }
  }
}

TEST_CASE("sizes that cannot be are refused before memory is taken") {
  CHECK(code_of([] { Tensor(E::f32, {i64{1} << 40, i64{1} << 40}); }) == "E0003");
  CHECK(code_of([] { Tensor(E::f64, {i64{1} << 61}); }) == "E0003");
  CHECK(code_of([] { Tensor(E::u8, {i64{1} << 55}); }) == "E0003");
  CHECK(code_of([] { Tensor(E::f32, {-1}); }) == "E0003");
  CHECK(Tensor(E::f32, {0, i64{1} << 62, 4}).size() == 0);
}

TEST_CASE("strings are kept alive") {
  Tensor t = Tensor::strings({2}, {"one", "a text too long to be stored in the string object itself"});
  const Tensor copy = t.reshaped({2, 1});
  t = Tensor();
  CHECK(copy.values<std::string_view>()[1].size() == 56);
  Tensor other(E::string, {1});
  CHECK(other.values<std::string_view>()[0].empty());
  other.mutable_data<std::string_view>()[0] = copy.values<std::string_view>()[0];
  other.keep_alive(copy);
  CHECK(other.values<std::string_view>()[0] == "one");
  CHECK(code_of([&] { static_cast<void>(convert(copy, E::f32)); }) == "E0604");
  CHECK(code_of([&] { static_cast<void>(copy.reshaped({3})); }) == "E0512");
}

TEST_CASE("Convert: floats to integers are cut off, integers wrap") {
  CHECK(to_i64(convert(floats({-1.9f, 1.9f, 255.5f}), E::i32)) == std::vector<i64>{-1, 1, 255});
  CHECK(to_i64(convert(vector<std::int32_t>(E::i32, {-1, 256, 300}), E::u8)) == std::vector<i64>{255, 0, 44});
  CHECK(convert(vector<std::int32_t>(E::i32, {-1}), E::u32).data<std::uint32_t>()[0] == 4294967295u);
  CHECK(convert(vector<std::int32_t>(E::i32, {-1}), E::u64).data<std::uint64_t>()[0] ==
        std::numeric_limits<std::uint64_t>::max());
  CHECK(to_i64(convert(vector<std::int32_t>(E::i32, {7, 8, -9, 15}), E::i4)) == std::vector<i64>{7, -8, 7, -1});
  CHECK(to_i64(convert(vector<std::int32_t>(E::i32, {7, 16, -1}), E::u4)) == std::vector<i64>{7, 0, 15});
  CHECK(to_i64(convert(floats({0, 0.5f, -2, std::nanf("")}), E::boolean)) == std::vector<i64>{0, 1, 1, 1});
  CHECK(to_i64(convert(vector<std::uint8_t>(E::boolean, {0, 1}), E::i16)) == std::vector<i64>{0, 1});
}

TEST_CASE("Convert: beyond 64 bits saturates, NaN is 0") {
  constexpr auto max = std::numeric_limits<i64>::max(), min = std::numeric_limits<i64>::min();
  CHECK(to_i64(floats({1e30f, -1e30f, std::nanf(""), 9.223372e18f, -9.223372e18f})) ==
        std::vector<i64>{max, min, 0, max, min});
  const Tensor u = convert(vector<double>(E::f64, {1e30, -1, 9223372036854775808.0, 3}), E::u64);
  CHECK(u.data<std::uint64_t>()[0] == std::numeric_limits<std::uint64_t>::max());
  CHECK(u.data<std::uint64_t>()[2] == 9223372036854775808u);
  CHECK(to_i64(vector<std::uint64_t>(E::u64, {5, 1ull << 63})) == std::vector<i64>{5, max});
  CHECK(to_f64(vector<std::uint64_t>(E::u64, {1ull << 63})) == std::vector<double>{9223372036854775808.0});
  CHECK(convert(vector<i64>(E::i64, {(1 << 24) + 1}), E::f32).data<float>()[0] == 16777216.0f);
}

TEST_CASE("Convert: every numeric type holds small numbers, and blocks do not matter") {
  for (int i = 0; i < kElementTypeCount; ++i) {
    const auto type = static_cast<E>(i);
    if (!contains(kNumeric | kBoolean, type) || type == E::f8e8m0) continue;
    INFO(name(type));
    std::vector<float> ones(1300, 1.0f);
    if (type != E::boolean) ones[1299] = 0;
    const Tensor there = convert(floats(ones), type);
    CHECK(there.byte_size() == ones.size() * static_cast<std::size_t>(byte_width(type)));
    CHECK(to_f64(there) == std::vector<double>(ones.begin(), ones.end()));
    CHECK(to_i64(pack(there)) == to_i64(floats(ones)));
  }
}

TEST_CASE("walking") {
  std::vector<i64> seen;
  for (IndexWalker at({2, 3}); !at.done(); at.next()) seen.push_back(at[0] * 10 + at[1]);
  CHECK(seen == std::vector<i64>{0, 1, 2, 10, 11, 12});
  CHECK(IndexWalker({2, 0}).done());
  IndexWalker scalar({});
  CHECK_FALSE(scalar.done());
  scalar.next();
  CHECK(scalar.done());
  CHECK(strides_of({2, 3, 4}) == Shape{12, 4, 1});
  CHECK(broadcast_strides({3, 1}, {2, 3, 4}) == Shape{0, 1, 0});
}

TEST_CASE("broadcasting merges axes") {
  const BroadcastPlan same({2, 3, 4}, {2, 3, 4}, {2, 3, 4});
  CHECK(same.run == 24);
  CHECK(same.outer.empty());
  const BroadcastPlan scalar({2, 3, 4}, {}, {2, 3, 4});
  CHECK(scalar.run == 24);
  CHECK(scalar.b_step == 0);
  const BroadcastPlan channel({2, 3, 4, 5}, {3, 1, 1}, {2, 3, 4, 5});
  CHECK(channel.run == 20);
  CHECK(channel.outer == Shape{2, 3});
  CHECK(channel.b_outer == Shape{0, 1});
}

TEST_CASE("broadcasting equals indexing") {
  const std::vector<std::pair<Shape, Shape>> cases{{{2, 3}, {2, 3}},          {{2, 1}, {3}}, {{}, {2, 3}},
                                                   {{4, 1, 3, 1}, {2, 1, 5}}, {{1}, {1}},    {{2, 1, 3}, {1, 4, 1}},
                                                   {{0, 3}, {1, 3}}};
  for (const auto& [sa, sb] : cases) {
    const Shape out_shape = broadcast(PartialShape(sa), PartialShape(sb))->to_shape();
    Tensor a(E::i64, sa), b(E::i64, sb), out(E::i64, out_shape);
    for (i64 i = 0; i < a.size(); ++i) a.mutable_data<i64>()[i] = i;
    for (i64 i = 0; i < b.size(); ++i) b.mutable_data<i64>()[i] = 1000 * i;
    broadcast_binary<i64, i64, i64>(a, b, out, [](auto x, auto y) { return x + y; });
    const Shape ta = broadcast_strides(sa, out_shape), tb = broadcast_strides(sb, out_shape);
    i64 i = 0;
    for (IndexWalker at(out_shape); !at.done(); at.next())
      CHECK(out.data<i64>()[i++] == at.offset(ta) + 1000 * at.offset(tb));
  }
}

TEST_CASE("a type without a kernel is named") {
  CHECK(code_of([] { dispatch(E::string, Numbers{}, []<class T>() {}); }) == "E0604");
}

TEST_CASE("typed access asks for a type that holds the elements") {
  Tensor f(E::f32, {2, 3});
  CHECK_NOTHROW(f.mutable_data<float>());
  CHECK_NOTHROW(f.data<RawElement<4>>());
  CHECK_THROWS_AS(f.data<double>(), std::logic_error);
  CHECK_THROWS_AS(f.data<std::int32_t>(), std::logic_error);
  CHECK_THROWS_AS(f.data<RawElement<8>>(), std::logic_error);
  CHECK_THROWS_AS(f.values<std::uint8_t>(), std::logic_error);
  CHECK_THROWS_AS(f.mutable_values<f16>(), std::logic_error);
  const std::vector<double> doubles(1000, 1.0);
  CHECK_THROWS_AS(Tensor::of<double>(E::f32, {1000}, doubles), std::logic_error);
  CHECK_THROWS_AS(Tensor::of<double>(E::f64, {999}, doubles), std::logic_error);
  CHECK_THROWS_AS(Tensor::of<double>(E::f64, {1001}, doubles), std::logic_error);
  CHECK_THROWS_AS(Tensor().data<std::uint8_t>(), std::logic_error);

  const auto allowed = [](E type, bool expected, auto held) { CHECK(holds<decltype(held)>(type) == expected); };
  allowed(E::boolean, true, std::uint8_t{});
  allowed(E::boolean, true, bool{});
  allowed(E::boolean, true, char{});
  allowed(E::i4, true, std::int8_t{});
  allowed(E::f16, true, std::uint16_t{});
  allowed(E::f16, true, f16{});
  allowed(E::f16, false, bf16{});
  allowed(E::u32, true, std::int32_t{});
  allowed(E::f32, false, std::uint32_t{});
  allowed(E::i32, false, float{});
  allowed(E::i64, false, double{});
  allowed(E::string, true, std::string_view{});
  allowed(E::string, true, RawElement<16>{});
  allowed(E::dynamic, false, std::uint8_t{});
}

TEST_CASE("packed elements are not accessed one by one") {
  const Tensor packed = pack(convert(Tensor::vector({1, 2, 3}), E::u4));
  REQUIRE(packed.packed());
  CHECK_THROWS_AS(packed.values<std::uint8_t>(), std::logic_error);
  CHECK(packed.unpacked().values<std::uint8_t>()[2] == 3);
}

TEST_CASE("who owns the bytes of a tensor") {
  Tensor t = floats({1, 2, 3, 4});
  CHECK(t.exclusive());
  {
    const Tensor same = t.reshaped({2, 2});
    CHECK_FALSE(t.exclusive());
    CHECK_FALSE(same.exclusive());
  }
  CHECK(t.exclusive());
  const auto buffer = std::make_shared<std::array<float, 4>>();
  CHECK_FALSE(Tensor(E::f32, {4}, buffer, reinterpret_cast<const std::byte*>(buffer->data())).exclusive());
  CHECK_FALSE(Tensor().exclusive());

  Tensor words = Tensor::strings({1}, {"one"});
  CHECK(words.exclusive());
  words.keep_alive(t);
  CHECK(words.exclusive());
  const Tensor moved = std::move(words);
  CHECK(moved.exclusive());
  CHECK(moved.values<std::string_view>()[0] == "one");
}

TEST_CASE("a view is where the elements lie") {
  Tensor t = floats({1, 2, 3, 4, 5, 6});
  t = t.reshaped({2, 3});
  const View v = t.view();
  CHECK(v.rank() == 2);
  CHECK(v.dim(1) == 3);
  CHECK(v.size() == 6);
  CHECK(v.layout == Layout::plain);
  CHECK(v.as<float>() == t.data<float>());
  v.as<float>()[5] = 7;
  CHECK(t.data<float>()[5] == 7);
  CHECK_THROWS_AS(v.as<double>(), std::logic_error);
  CHECK_THROWS_AS(v.as<std::int32_t>(), std::logic_error);
}
