#include "pattern_examples.hpp"

namespace ovir::testing::patterns::select {
namespace {

int select(Net& n, const PartialShape& mask, int a, int b) {
  const auto cond = n.op("Less-1", {n.input(mask), n.numbers({0}, {})});
  return n.op("Select-1", {cond, a, b});
}

void scores(Net& n) { n.result(select(n, {1, 1, 9, 21}, n.numbers({-9}, {}), n.input({1, 3, 9, 21}))); }
void over(Net& n) {
  const auto x = passing(n, n.input({2, 5, 40}));
  n.result(relu(n, select(n, {2, 5, 1}, x, n.numbers({0.5F}, {1}))));
}
void rows_of(Net& n) {  // each is that of one of them
  n.result(select(n, {2, 5, 1}, n.input({2, 1, 40}), n.input({2, 5, 40})));
}
void of_two(Net& n) { n.result(select(n, {2, 5, 40}, n.numbers({2}, {}), n.input({2, 1, 1}))); }
void wider(Net& n) { n.result(select(n, {2, 3, 1, 7}, n.input({1, 4, 1}), n.input({1, 1, 7}))); }
void one_axis(Net& n) { n.result(select(n, {100}, n.input({100}), n.input({100}))); }
void of(Net& n, const char* type, const PartialShape& a, const PartialShape& b) {
  const auto whole = [&](const PartialShape& shape) {
    return n.op("Convert-1", {n.op("Multiply-1", {n.input(shape), n.numbers({64}, {})})}, {{"destination_type", type}});
  };
  const auto y = select(n, {2, 5, 40}, whole(a), whole(b));
  n.result(n.op("Convert-1", {y}, {{"destination_type", std::string(name(n.type()))}}));
}
void of_i64(Net& n) { of(n, "i64", {2, 5, 40}, {2, 1, 1}); }
void of_i32(Net& n) { of(n, "i32", {2, 5, 1}, {2, 1, 40}); }
void of_booleans(Net& n) { of(n, "boolean", {1, 1}, {2, 5, 40}); }
void of_words(Net& n) { of(n, "i16", {2, 5, 40}, {2, 5, 40}); }

// clang-format off
constexpr Example kExamples[] = {
    {"select", scores},
    {"select", scores, kOnce},
    {"select", over},
    {"select", over, kOften, kOpen},
    {"select", rows_of},
    {"select", of_two},
    {"select", wider},
    {"select", of_i64, kOften, kOpen},
    {"select", of_i32},
    {"select", of_booleans, kOnce},
    {"select", of_words},
    {"select", one_axis},
    {"select", one_axis, kOften, kOpen},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"select", kExamples};

}  // namespace ovir::testing::patterns::select
