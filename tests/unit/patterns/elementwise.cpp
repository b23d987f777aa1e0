#include "pattern_examples.hpp"

namespace ovir::testing::patterns::elementwise {
namespace {

void chain(Net& n) {  // operands of every width, one of them twice
  const auto x = n.input({2, 5, 33});
  auto y = n.op("Add-1", {n.op("Multiply-1", {x, n.weights({33})}), n.input({1, 5, 1})});
  y = n.op("Subtract-1", {n.op("Tanh-1", {y}), x});
  n.result(n.op("Maximum-1", {n.op("Sigmoid-1", {y}), n.numbers({0.5F}, {})}));
}
void chain_of_two(Net& n) {
  const auto x = n.input({3, 21}), y = n.input({3, 21});
  n.result(n.op("SquaredDifference-1", {n.op("Exp-1", {x}), n.op("Divide-1", {y, n.numbers({3}, {1})})}));
}
void element(Net& n) { n.result(n.op("SoftPlus-4", {n.input({3, 77})})); }
void element_twice(Net& n) {
  const auto x = n.input({3, 7});
  n.result(n.op("Multiply-1", {x, x}));
}
void grown(Net& n) {  // the output is larger than either operand
  n.result(n.op("Add-1", {n.input({4, 1, 5}), n.weights({3, 1})}));
}

/// Short inner dims, each of which another operand lacks: they are laid out as one.
void short_dims(Net& n) {
  const auto x = n.op("Divide-1", {n.input({3, 50, 4, 3, 4, 2}), n.numbers({3, 4, 5, 6, 7, 8}, {1, 1, 1, 3, 1, 2})});
  n.result(n.op("Multiply-1", {n.op("Add-1", {x, n.input({3, 50, 1, 3, 1, 2})}), n.input({3, 1, 4, 1, 4, 1})}));
}
void short_grown(Net& n) { n.result(n.op("Multiply-1", {n.input({90, 3, 1}), n.weights({3, 2})})); }
void slopes(Net& n) { n.result(n.op("PRelu-1", {n.input({2, 5, 9, 7}), n.weights({5})})); }
void slopes_by_column(Net& n) {  // and an operand that is a slope for one node alone
  const auto x = n.input({3, 4, 21}), y = n.input({4});
  n.result(n.op("PRelu-1", {x, y}));
  n.result(n.op("PRelu-1", {n.op("Tanh-1", {x}), n.weights({1, 1, 1, 21})}));
}
void remainders(Net& n) {
  const auto x = n.input({3, 4, 21});
  n.result(n.op("FloorMod-1", {n.op("Mod-1", {x, n.numbers({0.25F}, {})}), n.op("Negative-1", {n.input({3, 4, 1})})}));
}
void rounded(Net& n) {
  const auto x = n.op("Multiply-1", {n.input({3, 77}), n.numbers({32}, {})});
  n.result(n.op("Round-5", {x}, {{"mode", "half_to_even"}}));
  n.result(n.op("Round-5", {n.op("Negative-1", {x})}, {{"mode", "half_away_from_zero"}}));
}
void angles(Net& n) {
  auto x = n.input({3, 77});
  for (const auto* type :
       {"Sinh-1", "Sin-1", "Asin-1", "Tan-1", "Atan-1", "Asinh-4", "Atanh-4", "Cos-1", "Acos-1", "Cosh-1"})
    x = n.op(type, {n.op("Multiply-1", {x, n.numbers({0.75F}, {})})});
  n.result(n.op("Acosh-4", {x}));
  n.result(n.op("Cosh-1", {n.input({3, 77})}));
}
void powers(Net& n) {
  const auto x = n.op("Abs-1", {n.input({3, 77})});
  n.result(n.op("Power-1", {n.op("Power-1", {x, n.numbers({2}, {})}), n.input({77})}));
}
/// Of other types, which become f32 first.
int converted(Net& n, int x, std::string to) { return n.op("Convert-1", {x}, {{"destination_type", std::move(to)}}); }
int whole(Net& n, const PartialShape& shape, const char* type) {
  const auto x = n.op("Abs-1", {n.op("Multiply-1", {n.input(shape), n.numbers({90}, {})})});
  return converted(n, converted(n, x, type), std::string(name(n.type())));
}
void normalized(Net& n, const char* type) {
  const auto x = n.op("Subtract-1", {whole(n, {2, 3, 17, 41}, type), n.weights({3, 1, 1})});
  n.result(n.op("Divide-1", {x, n.numbers({58, 57, 56}, {3, 1, 1})}));
}
void normalized_bytes(Net& n) { normalized(n, "u8"); }
void normalized_words(Net& n) { normalized(n, "i32"); }
void pixels_of_bytes(Net& n) {
  const auto x = n.op("Multiply-1", {whole(n, {1, 9, 11, 3}, "u8"), n.weights({3})});
  n.result(n.op("Add-1", {x, whole(n, {1, 9, 11, 3}, "i64")}));
}
/// What others read, too, or is smaller, is converted by itself.
void converted_alone(Net& n) {
  const auto x = whole(n, {2, 40}, "u8"), y = whole(n, {1, 40}, "u8");
  n.result(n.op("Tanh-1", {n.op("Subtract-1", {x, y})}));
  n.result(softmax(n, x));
}
/// What becomes whole numbers as it is stored.
void quantized(Net& n) {
  const auto x = n.op("Multiply-1", {n.input({2, 3, 17, 41}), n.weights({3, 1, 1})});
  const auto y = n.op("Clamp-1", {n.op("Multiply-1", {x, n.numbers({90}, {})})}, {{"min", "-7"}, {"max", "55"}});
  const auto z = n.op("Round-5", {y}, {{"mode", "half_to_even"}});
  n.result(converted(n, converted(n, z, "u8"), std::string(name(n.type()))));
}
void truncated(Net& n) {
  const auto x = n.op("Multiply-1", {n.input({3, 400}), n.numbers({90}, {})});
  n.result(converted(n, converted(n, n.op("Add-1", {x, n.input({3, 1})}), "i64"), std::string(name(n.type()))));
}
/// Others read what is converted.
void converted_beside(Net& n) {
  const auto x = n.op("Tanh-1", {n.input({3, 400})});
  n.result(converted(n, converted(n, x, "boolean"), std::string(name(n.type()))));
  n.result(softmax(n, x));
}

// clang-format off
constexpr Example kExamples[] = {
    {"elementwise.Multiply+Add+Tanh+Subtract+Sigmoid+Maximum", chain},
    {"elementwise.Multiply+Add+Tanh+Subtract+Sigmoid+Maximum", chain, kOnce},
    {"elementwise.Exp+Divide+SquaredDifference", chain_of_two},
    {"elementwise.SquaredDifference", chain_of_two, kOften, kOpen},
    {"elementwise.SoftPlus", element, kOnce, kOpen},
    {"elementwise.Multiply", element_twice},
    {"elementwise.Add", grown, kOften, kOpen},
    {"elementwise.Divide+Add+Multiply", short_dims},
    {"elementwise.Multiply", short_grown},
    {"elementwise.Multiply", short_grown, kOnce, kOpen},
    {"elementwise.PRelu", slopes},
    {"elementwise.PRelu", slopes, kOnce, kOpen},
    {"elementwise.PRelu", slopes_by_column},
    {"elementwise.Tanh+PRelu", slopes_by_column},
    {"elementwise.Mod+FloorMod", remainders},
    {"elementwise.Negative+Round", rounded},
    {"elementwise.Round", rounded, kOnce, kOpen},
    {"elementwise.Cosh", angles},
    {"elementwise.Abs+Power+Power", powers},
    {"elementwise.Convert+Subtract+Divide", normalized_bytes, kOften, kFixed, kF32Only},
    {"elementwise.Convert+Subtract+Divide", normalized_words, kOnce, kFixed, kF32Only},
    {"elementwise.Convert+Convert+Multiply+Add", pixels_of_bytes, kOften, kFixed, kF32Only},
    {"elementwise.Subtract+Tanh", converted_alone, kOften, kFixed, kF32Only},
    {"elementwise.Multiply+Multiply+Clamp+Round+Convert", quantized, kOften, kFixed, kF32Only},
    {"elementwise.Multiply+Multiply+Clamp+Round+Convert", quantized, kOnce, kFixed, kF32Only},
    {"elementwise.Add+Convert", truncated, kOften, kOpen, kF32Only},
    {"elementwise.Tanh", converted_beside, kOften, kFixed, kF32Only},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"elementwise", kExamples};

}  // namespace ovir::testing::patterns::elementwise
