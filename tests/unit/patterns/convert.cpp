#include "pattern_examples.hpp"

namespace ovir::testing::patterns::convert {
namespace {

int converted(Net& n, int x, std::string to) { return n.op("Convert-1", {x}, {{"destination_type", std::move(to)}}); }
/// Not the end of a chain of elements, which would take the Convert.
int scaled(Net& n) {
  const auto x = n.op("Multiply-1", {n.input({3, 31, 19}), n.numbers({70}, {})});
  return n.op("Transpose-1", {x, n.indices({0, 2, 1})});
}

/// There and back; what is beyond a byte wraps.
void by(Net& n, const char* type) {
  n.result(converted(n, converted(n, scaled(n), type), std::string(name(n.type()))));
}
void bytes(Net& n) { by(n, "u8"); }
void words(Net& n) { by(n, "i32"); }
void long_words(Net& n) { by(n, "i64"); }
void truths(Net& n) { by(n, "boolean"); }
void narrow(Net& n) { n.result(converted(n, converted(n, scaled(n), "f16"), "f32")); }
void narrower(Net& n) { n.result(converted(n, converted(n, scaled(n), "bf16"), "f32")); }
void whole(Net& n) {
  n.result(converted(n, converted(n, converted(n, scaled(n), "i64"), "i8"), std::string(name(n.type()))));
}
void like(Net& n) {
  const auto x = scaled(n);
  n.result(converted(n, n.op("ConvertLike-1", {x, n.index(1)}), std::string(name(n.type()))));
}

// clang-format off
constexpr Example kExamples[] = {
    {"convert", bytes},
    {"convert", bytes, kOnce, kOpen},
    {"convert", words},
    {"convert", long_words},
    {"convert", truths, kOnce},
    {"convert", narrow, kOften, kFixed, kF32Only},
    {"convert", narrower, kOften, kFixed, kF32Only},
    {"convert", whole, kOften, kOpen},
    {"convert", like},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"convert", kExamples};

}  // namespace ovir::testing::patterns::convert
