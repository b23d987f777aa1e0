#include "pattern_examples.hpp"

namespace ovir::testing::patterns::integers {
namespace {

int converted(Net& n, int x, std::string to) { return n.op("Convert-1", {x}, {{"destination_type", std::move(to)}}); }
int whole(Net& n, const PartialShape& shape, const char* type) {
  return converted(n, n.op("Multiply-1", {n.input(shape), n.numbers({64}, {})}), type);
}
void result(Net& n, int x) { n.result(converted(n, x, std::string(name(n.type())))); }

void sums(Net& n) { result(n, n.op("Add-1", {whole(n, {3, 15, 40}, "i64"), whole(n, {3, 15, 1}, "i64")})); }
void products(Net& n) {
  const auto x = whole(n, {2, 15, 40}, "i32");
  result(n, n.op("Multiply-1", {n.op("Subtract-1", {x, whole(n, {2, 15, 40}, "i32")}), x}));
}
void extremes(Net& n) {
  const auto x = whole(n, {2, 15, 40}, "i64"), y = whole(n, {1, 1, 40}, "i64");
  result(n, n.op("Maximum-1", {n.op("Minimum-1", {x, y}), whole(n, {2, 15, 40}, "i64")}));
}
void remainders(Net& n) {
  const auto x = whole(n, {2, 15, 40}, "i64"), y = whole(n, {2, 15, 1}, "i64");
  result(n, n.op("FloorMod-1", {x, y}));
  result(n, n.op("Mod-1", {y, x}));
}
void remainders_of_words(Net& n) {
  const auto x = whole(n, {2, 15, 40}, "i32"), y = whole(n, {2, 15, 40}, "i32");
  result(n, n.op("FloorMod-1", {x, y}));
  result(n, n.op("Mod-1", {x, y}));
}
void quotients(Net& n, const char* type) {
  const auto x = whole(n, {2, 15, 40}, type), y = whole(n, {2, 15, 1}, type), z = whole(n, {2, 15, 40}, type);
  result(n, n.op("Divide-1", {x, y}, {{"m_pythondiv", "true"}}));
  result(n, n.op("Divide-1", {z, x}, {{"m_pythondiv", "false"}}));
}
void quotients_of_longs(Net& n) { quotients(n, "i64"); }
void quotients_of_words(Net& n) { quotients(n, "i32"); }
void comparisons(Net& n) {
  const auto x = whole(n, {2, 15, 40}, "i64"), y = whole(n, {2, 1, 40}, "i64");
  for (const auto* type : {"Equal-1", "NotEqual-1", "Less-1", "LessEqual-1", "Greater-1", "GreaterEqual-1"})
    result(n, n.op(type, {x, y}));
}

/// Of two operands of any width, one of which is broadcast.
void of_all_widths(Net& n) {
  for (const auto* type : {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"}) {
    const auto x = whole(n, {3, 15, 40}, type), y = whole(n, {3, 15, 1}, type);
    for (const auto* of_two : {"Add-1", "Multiply-1", "SquaredDifference-1", "Maximum-1", "Divide-1", "FloorMod-1",
                               "Power-1", "BitwiseAnd-13", "BitwiseXor-13", "Less-1"})
      result(n, n.op(of_two, {x, y}));
    for (const auto* of_one : {"Abs-1", "Sign-1", "Negative-1", "Relu-1", "BitwiseNot-13"})
      result(n, n.op(of_one, {x}));
  }
}
void limits(Net& n) {
  for (const auto* type : {"u8", "i8", "i32", "i64"})
    result(n, n.op("Clamp-1", {whole(n, {3, 500}, type)}, {{"min", "-300.5"}, {"max", "30.7"}}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"integers.Add", sums},
    {"integers.Add", sums, kOnce, kOpen},
    {"integers.Multiply", products},
    {"integers.Subtract", products},
    {"integers.Maximum", extremes},
    {"integers.Minimum", extremes, kOften, kOpen},
    {"integers.FloorMod", remainders},
    {"integers.Mod", remainders},
    {"integers.FloorMod", remainders_of_words},
    {"integers.Mod", remainders_of_words},
    {"integers.Divide", quotients_of_longs},
    {"integers.Divide", quotients_of_words},
    {"integers.Equal", comparisons},
    {"integers.GreaterEqual", comparisons, kOften, kOpen},
    {"integers.SquaredDifference", of_all_widths},
    {"integers.BitwiseNot", of_all_widths, kOften, kOpen},
    {"integers.Sign", of_all_widths},
    {"integers.Clamp", limits},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"integers", kExamples};

}  // namespace ovir::testing::patterns::integers
