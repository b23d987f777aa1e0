#include "pattern_examples.hpp"

namespace ovir::testing::patterns::top_k {
namespace {

void top(Net& n, int x, i64 k, std::string_view axis, std::string_view mode, std::string_view sort,
         std::string_view index = "i64") {
  const auto best = n.op("TopK-11", {x, n.index(k)},
                         {{"axis", std::string(axis)},
                          {"mode", std::string(mode)},
                          {"sort", std::string(sort)},
                          {"index_element_type", std::string(index)}},
                         2);
  n.result(best, 0);
  n.result(best, 1);
}
int integers(Net& n, const Shape& shape, std::string_view type) {
  const auto scaled = n.op("Multiply-1", {n.input(shape), n.numbers({20}, {1})});
  return n.op("Convert-1", {scaled}, {{"destination_type", std::string(type)}});
}

void last(Net& n) { top(n, n.input({3, 2000}), 10, "-1", "max", "value"); }
void many(Net& n) { top(n, n.input({2, 5000}), 700, "1", "min", "value", "i32"); }
void all(Net& n) { top(n, n.input({2, 90}), 90, "1", "max", "value"); }
void middle(Net& n) { top(n, n.input({2, 80, 5, 30}), 5, "1", "max", "value"); }
void largest(Net& n) { top(n, n.input({1, 21, 17, 20}), 1, "1", "max", "none", "i32"); }
void first_many(Net& n) { top(n, n.input({70, 9}), 20, "0", "min", "index"); }
void by_index(Net& n) { top(n, n.input({3, 100, 9}), 8, "1", "min", "index"); }
void short_lines(Net& n) { top(n, n.input({9, 15, 70}), 2, "2", "max", "value"); }
void equal(Net& n) { top(n, integers(n, {4, 20, 30}, "i64"), 6, "1", "max", "value"); }
void equal_narrow(Net& n) { top(n, integers(n, {70, 30}, "i32"), 6, "1", "min", "value", "i32"); }
void few_values(Net& n) {
  const auto scaled = n.op("Multiply-1", {n.input({2, 20, 40}), n.numbers({2}, {1})});
  top(n, n.op("Convert-1", {scaled}, {{"destination_type", "i32"}}), 8, "1", "max", "index");
}
void bytes(Net& n) { top(n, integers(n, {2, 300}, "i8"), 100, "1", "max", "value"); }

// clang-format off
constexpr Example kExamples[] = {
    {"top_k", last},
    {"top_k", last, kOnce, kOpen},
    {"top_k", many},
    {"top_k", all},
    {"top_k", middle},
    {"top_k", largest, kOften, kOpen},
    {"top_k", first_many},
    {"top_k", by_index},
    {"top_k", short_lines},
    {"top_k", equal, kOften, kFixed, kF32Only},
    {"top_k", equal_narrow, kOften, kFixed, kF32Only},
    {"top_k", few_values, kOften, kFixed, kF32Only},
    {"top_k", bytes, kOften, kFixed, kF32Only},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"top_k", kExamples};

}  // namespace ovir::testing::patterns::top_k
