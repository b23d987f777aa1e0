#include "pattern_examples.hpp"

namespace ovir::testing::patterns::transpose {
namespace {

void transpose(Net& n) { n.result(n.op("Transpose-1", {n.input({2, 3, 4, 5}), n.indices({0, 2, 3, 1})})); }
void transpose_batch(Net& n) { n.result(n.op("Transpose-1", {n.input({2, 3, 4}), n.indices({1, 0, 2})})); }
/// An axis of one element changes places, so nothing is copied.
void transpose_in_place(Net& n) {
  const auto x = n.op("Transpose-1", {passing(n, n.input({2, 1, 70})), n.indices({1, 0, 2})});
  n.result(softmax(n, x));
}
void planes_of_rows(Net& n) {
  const int planes =
      n.op("Reshape-1", {n.op("Transpose-1", {n.input({2, 35, 32}), n.indices({0, 2, 1})}), n.indices({0, 0, 5, 7})},
           {{"special_zero", "true"}});
  n.result(n.op("Relu-1", {convolution(n, planes, {16, 32, 3, 3}, windows(2, 1, 1))}));
}
void rows_of_planes(Net& n) {
  const int planes = convolution(n, n.input({2, 16, 5, 7}), {32, 16, 3, 3}, windows(2, 1, 1));
  const int rows = n.op("Reshape-1", {planes, n.indices({0, 32, -1})}, {{"special_zero", "true"}});
  n.result(n.op("Transpose-1", {rows, n.indices({0, 2, 1})}));
}
/// Nothing beside them leaves values blocked.
void planes_alone(Net& n) {
  const int planes =
      n.op("Reshape-1", {n.op("Transpose-1", {n.input({2, 6, 16}), n.indices({0, 2, 1})}), n.indices({2, 16, 3, 2})},
           {{"special_zero", "false"}});
  n.result(planes);
}
void rows_alone(Net& n) {
  const int rows = n.op("Reshape-1", {n.input({2, 16, 3, 2}), n.indices({2, 16, 6})}, {{"special_zero", "false"}});
  n.result(n.op("Transpose-1", {rows, n.indices({0, 2, 1})}));
}
/// The second axis of the Reshape is not that of channels: what comes out is not a plane for each.
void no_planes(Net& n) {
  const int x = n.op("Transpose-1", {n.input({2, 6, 16}), n.indices({0, 2, 1})});
  n.result(n.op("Reshape-1", {x, n.indices({2, 8, 4, 3})}, {{"special_zero", "false"}}));
}
/// Of elements of other sizes, whose few or many rows become columns.
void elements(Net& n, std::string_view type, const PartialShape& shape, std::initializer_list<i64> order) {
  const int x = n.op("Convert-1", {n.input(shape)}, {{"destination_type", std::string(type)}});
  n.result(n.op("Transpose-1", {x, n.indices(order)}));
}
void bytes_to_planes(Net& n) { elements(n, "u8", {2, 9, 41, 3}, {0, 3, 1, 2}); }
void bytes_to_pixels(Net& n) { elements(n, "u8", {2, 4, 9, 41}, {0, 2, 3, 1}); }
void integers(Net& n) { elements(n, "i64", {70, 90}, {1, 0}); }
void integers_by_runs(Net& n) { elements(n, "i32", {3, 5, 4, 7}, {0, 2, 1, 3}); }
void short_integers(Net& n) { elements(n, "i16", {17, 70, 9}, {2, 1, 0}); }
void long_rows(Net& n) { n.result(n.op("Transpose-1", {n.input({9000, 3}), n.indices({1, 0})})); }

// clang-format off
constexpr Example kExamples[] = {
    {"transpose", transpose},
    {"transpose", transpose_batch, kOnce, kOpen},
    {"transpose", transpose_in_place},
    {"transpose", transpose_in_place, kOnce, kOpen},
    {"transpose+planes", planes_of_rows},
    {"planes+transpose", rows_of_planes},
    {"transpose+planes", planes_alone, kOnce},
    {"planes+transpose", rows_alone, kOnce},
    {"transpose", no_planes},
    {"transpose", bytes_to_planes, kOften, kFixed, kF32Only},
    {"transpose", bytes_to_planes, kOnce, kOpen, kF32Only},
    {"transpose", bytes_to_pixels, kOften, kFixed, kF32Only},
    {"transpose", integers, kOften, kFixed, kF32Only},
    {"transpose", integers_by_runs, kOften, kFixed, kF32Only},
    {"transpose", short_integers, kOften, kFixed, kF32Only},
    {"transpose", long_rows},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"transpose", kExamples};

}  // namespace ovir::testing::patterns::transpose
