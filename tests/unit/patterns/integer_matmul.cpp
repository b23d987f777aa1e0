#include "pattern_examples.hpp"

namespace ovir::testing::patterns::integer_matmul {
namespace {

int converted(Net& n, int x, std::string to) { return n.op("Convert-1", {x}, {{"destination_type", std::move(to)}}); }
int real(Net& n, int x) { return converted(n, x, std::string(name(n.type()))); }
/// One number that the run finds.
int one(Net& n, const char* keep_dims = "false") {
  return n.op("ReduceMax-1", {n.input({4}), n.indices({0})}, {{"keep_dims", keep_dims}});
}
/// Whole numbers of 28 to 228 in u8.
int bytes(Net& n, int x) {
  const auto scaled = n.op("Multiply-1", {x, n.numbers({200}, {})});
  return converted(n, n.op("Add-1", {scaled, n.numbers({128}, {})}), "u8");
}
int bytes(Net& n, const PartialShape& shape) { return bytes(n, n.input(shape)); }
int whole(Net& n, int x) { return converted(n, x, "i32"); }
int less(Net& n, int x, int zero) { return n.op("Subtract-1", {whole(n, x), whole(n, zero)}); }
/// From -`below` on, so many different ones.
int integers(Net& n, const Shape& shape, int below, int count) {
  std::vector<float> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>(i * 37 % static_cast<std::size_t>(count)) - below);
  return n.constant(convert(floats(shape, values), ElementType::i32));
}
int step(Net& n) { return n.op("Add-1", {one(n), n.numbers({0.75F}, {})}); }
int times(Net& n, int x, int by) { return n.op("Multiply-1", {x, by}); }

void one_step(Net& n) {
  const auto x = less(n, bytes(n, {2, 9, 40}), bytes(n, one(n)));
  n.result(times(n, real(n, matmul(n, x, integers(n, {40, 64}, 127, 255))), step(n)));
}
/// Two products of the same levels, as of queries and keys.
void shared(Net& n) {
  const auto x = less(n, bytes(n, {2, 9, 40}), bytes(n, one(n)));
  const auto y = real(n, matmul(n, x, integers(n, {40, 35}, 127, 255)));
  n.result(times(n, y, step(n)));
  n.result(relu(n, times(n, real(n, matmul(n, x, integers(n, {32, 40}, 64, 128), true)), step(n))));
}
void steps_by_column(Net& n) {
  const auto y =
      matmul(n, less(n, bytes(n, {7, 130}), bytes(n, one(n, "true"))), integers(n, {70, 130}, 128, 256), true);
  n.result(
      relu(n, n.op("Add-1", {times(n, real(n, y), n.op("Multiply-1", {step(n), n.weights({70})})), n.weights({70})})));
}
/// Weights that i8 can't hold, of u8 less a zero point, in all rows or in a few; rows that are no whole words.
void beyond_bytes(Net& n) {
  n.result(times(n, real(n, matmul(n, less(n, bytes(n, {5, 37}), bytes(n, one(n))), integers(n, {37, 40}, 190, 256))),
                 step(n)));
}
void few_beyond_bytes(Net& n) {
  n.result(times(n, real(n, matmul(n, less(n, bytes(n, {5, 64}), bytes(n, one(n))), integers(n, {64, 3}, 130, 260))),
                 step(n)));
}
void without_zero(Net& n) {
  const auto x = whole(n, bytes(n, {3, 8, 32}));
  const auto y = n.op("Add-1", {real(n, matmul(n, x, integers(n, {32, 48}, 100, 201))), n.weights({48})});
  n.result(n.op("Add-1", {y, n.input({3, 8, 48})}));
}

// clang-format off
constexpr Example kExamples[] = {
    {"integer.matmul+step", one_step},
    {"integer.matmul+step", shared, kOften, kOpen},
    {"integer.matmul+step+Relu", shared},
    {"integer.matmul+step+bias+Relu", steps_by_column},
    {"integer.matmul+step+bias+Relu", steps_by_column, kOnce, kOpen},
    {"integer.matmul+step", beyond_bytes},
    {"integer.matmul+step", few_beyond_bytes, kOnce},
    {"integer.matmul+bias+residual", without_zero},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"integer_matmul", kExamples};

}  // namespace ovir::testing::patterns::integer_matmul
