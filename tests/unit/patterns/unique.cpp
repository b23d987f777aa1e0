#include "pattern_examples.hpp"

namespace ovir::testing::patterns::unique {
namespace {

int scaled(Net& n, const Shape& shape, float by, std::string_view type) {
  const auto x = n.op("Multiply-1", {n.input(shape), n.numbers({by}, {1})});
  return n.op("Convert-1", {x}, {{"destination_type", std::string(type)}});
}
void different(Net& n, const std::vector<int>& in, const Texts& texts) {
  const auto found = n.op("Unique-10", in, texts, 4);
  for (const auto port : {0, 1, 2, 3}) n.result(found, port);
}

void floats(Net& n) { different(n, {relu(n, n.input({3, 50, 6}))}, {}); }
void as_they_come(Net& n) {
  different(n, {n.input({700})}, {{"sorted", "false"}, {"index_element_type", "i32"}, {"count_element_type", "i32"}});
}
void integers(Net& n) { different(n, {scaled(n, {70, 9}, 1e5F, "i64")}, {}); }
void along_the_only_axis(Net& n) { different(n, {scaled(n, {900}, 1e8F, "i32"), n.index(0)}, {{"sorted", "false"}}); }
void bytes(Net& n) { n.result(n.op("Unique-10", {scaled(n, {900}, 100, "i8")}, {}, 4)); }
void one(Net& n) { different(n, {relu(n, n.input({1}))}, {}); }

// clang-format off
constexpr Example kExamples[] = {
    {"unique", floats},
    {"unique", floats, kOnce, kOpen},
    {"unique", as_they_come},
    {"unique", integers, kOften, kFixed, kF32Only},
    {"unique", along_the_only_axis, kOften, kFixed, kF32Only},
    {"unique", bytes, kOften, kFixed, kF32Only},
    {"unique", one},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"unique", kExamples};

}  // namespace ovir::testing::patterns::unique
