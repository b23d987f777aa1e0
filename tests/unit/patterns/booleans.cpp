#include "pattern_examples.hpp"

namespace ovir::testing::patterns::booleans {
namespace {

void as_numbers(Net& n, int y) {
  n.result(n.op("Convert-1", {y}, {{"destination_type", std::string(name(n.type()))}}));
}
/// A quarter of the numbers are halves, so that many are equal.
int steps(Net& n, const PartialShape& shape) {
  return n.op("Multiply-1",
              {n.op("Round-5", {n.op("Multiply-1", {n.input(shape), n.numbers({4}, {})})}, {{"mode", "half_to_even"}}),
               n.numbers({0.25F}, {})});
}
void compared(Net& n, const char* type, const PartialShape& a, const PartialShape& b) {
  as_numbers(n, n.op(type, {steps(n, a), steps(n, b)}));
}
void same_size(Net& n) { compared(n, "Equal-1", {3, 900}, {3, 900}); }
void repeated(Net& n) { compared(n, "NotEqual-1", {20, 1, 7}, {9, 7}); }
void by_row(Net& n) { compared(n, "Less-1", {64, 20, 1}, {20, 11}); }
void by_number(Net& n) { compared(n, "GreaterEqual-1", {5, 17, 11}, {1}); }
void number_first(Net& n) { as_numbers(n, n.op("Greater-1", {n.numbers({0.25F}, {}), steps(n, {5, 17, 11})})); }
void long_rows(Net& n) { compared(n, "LessEqual-1", {2, 20000}, {2, 1}); }
void not_a_number(Net& n) {
  const auto x = n.input({40, 20});
  const auto zero = n.op("Multiply-1", {x, n.numbers({0}, {})});
  as_numbers(n, n.op("NotEqual-1", {n.op("Divide-1", {zero, zero}), x}));
}
void logic(Net& n, const char* type) {
  const auto x = n.input({6, 7, 20});
  const auto high = n.op("IsFinite-10", {n.op("Log-1", {x})});
  const auto some = n.op("IsFinite-10", {n.op("Log-1", {n.input({7, 1})})});
  as_numbers(n, n.op(type, {high, some}));
}
void both(Net& n) { logic(n, "LogicalAnd-1"); }
void either(Net& n) { logic(n, "LogicalOr-1"); }
void one(Net& n) { logic(n, "LogicalXor-1"); }
void bits_of_both(Net& n) { logic(n, "BitwiseAnd-13"); }
void bits_of_either(Net& n) { logic(n, "BitwiseOr-13"); }
void bits_of_one(Net& n) { logic(n, "BitwiseXor-13"); }

// clang-format off
constexpr Example kExamples[] = {
    {"booleans.Equal", same_size, kOften, kOpen},
    {"booleans.NotEqual", repeated},
    {"booleans.Less", by_row, kOnce},
    {"booleans.GreaterEqual", by_number},
    {"booleans.Greater", number_first},
    {"booleans.LessEqual", long_rows},
    {"booleans.NotEqual", not_a_number},
    {"booleans.LogicalAnd", both},
    {"booleans.LogicalOr", either},
    {"booleans.LogicalXor", one},
    {"booleans.BitwiseAnd", bits_of_both},
    {"booleans.BitwiseOr", bits_of_either},
    {"booleans.BitwiseXor", bits_of_one},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"booleans", kExamples};

}  // namespace ovir::testing::patterns::booleans
