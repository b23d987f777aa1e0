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
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"integers", kExamples};

}  // namespace ovir::testing::patterns::integers
