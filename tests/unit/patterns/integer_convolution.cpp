#include "pattern_examples.hpp"

namespace ovir::testing::patterns::integer_convolution {
namespace {

int converted(Net& n, int x, std::string to) { return n.op("Convert-1", {x}, {{"destination_type", std::move(to)}}); }
/// One number that the run finds.
int one(Net& n) { return n.op("ReduceMax-1", {n.input({4}), n.indices({0})}, {{"keep_dims", "false"}}); }
/// Whole numbers of 28 to 228 in i32, by way of u8.
int whole(Net& n, int x) {
  const auto scaled = n.op("Multiply-1", {x, n.numbers({200}, {})});
  return converted(n, converted(n, n.op("Add-1", {scaled, n.numbers({128}, {})}), "u8"), "i32");
}
int less(Net& n, const PartialShape& shape) { return n.op("Subtract-1", {whole(n, n.input(shape)), whole(n, one(n))}); }
int filters(Net& n, const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(static_cast<int>(i * 37 % 256) - 128);
  return n.constant(convert(floats(shape, values), ElementType::i32));
}
int real(Net& n, int x) { return converted(n, x, std::string(name(n.type()))); }
int stepped(Net& n, int x) {
  const auto step = n.op("Add-1", {one(n), n.numbers({0.75F}, {})});
  return n.op("Multiply-1", {real(n, x), step});
}

/// Of an image, whose border is the zero point.
void image(Net& n) {
  n.result(stepped(n, n.op("Convolution-1", {less(n, {1, 3, 20, 21}), filters(n, {40, 3, 5, 5})}, windows(2, 2, 2))));
}
void channels(Net& n) {
  const auto y = n.op("Convolution-1", {less(n, {2, 40, 9, 11}), filters(n, {35, 40, 3, 3})}, windows(2, 1, 1));
  n.result(relu(n, n.op("Add-1", {stepped(n, y), n.weights({1, 35, 1, 1})})));
}
void line(Net& n) {
  const auto y = n.op("Convolution-1", {less(n, {1, 70, 50}), filters(n, {64, 70, 3})}, windows(1, 2, 1));
  n.result(n.op("Add-1", {stepped(n, y), n.weights({1, 64, 1})}));
}
void without_zero(Net& n) {
  n.result(real(n, n.op("Convolution-1", {whole(n, n.input({1, 32, 8, 8})), filters(n, {48, 32, 1, 1})}, windows(2))));
}

// clang-format off
constexpr Example kExamples[] = {
    {"integer.convolution+step", image},
    {"integer.convolution+step", image, kOnce, kOpen},
    {"integer.convolution+step+bias", channels, kOften, kOpen},
    {"integer.convolution+step+bias", channels, kOnce},
    {"integer.convolution+step+bias", line},
    {"integer.convolution", without_zero},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"integer_convolution", kExamples};

}  // namespace ovir::testing::patterns::integer_convolution
