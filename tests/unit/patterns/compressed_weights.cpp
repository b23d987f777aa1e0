#include "pattern_examples.hpp"

namespace ovir::testing::patterns::compressed_weights {
namespace {

void compressed_product(Net& n, i64 rows, int weights) {
  const auto y = n.op("MatMul-1", {as_f32(n, n.input({1, rows, 96})), weights}, {{"transpose_b", "true"}});
  n.result(n.op("Swish-4", {y}));
}
/// Rows of 96 numbers out of a book of 16, scaled by row.
int picked(Net& n, i64 rows) {
  std::vector<float> values(static_cast<std::size_t>(rows * 96));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 5 + i / 7) % 16);
  const auto codes = n.constant(pack(convert(floats({rows, 96}, values), ElementType::u4)));
  std::vector<float> levels(16);
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = 0.25F * static_cast<float>(i * i) - 20;
  const auto book = n.constant(convert(floats({16}, levels), ElementType::f8e4m3));
  const auto floats_of_book = n.op("Convert-1", {book}, {{"destination_type", std::string(name(n.type()))}});
  const auto index = n.op("Convert-1", {codes}, {{"destination_type", "u8"}});
  const auto y = n.op("Multiply-1", {n.op("Gather-8", {floats_of_book, index, n.index(0)}), n.weights({rows, 1})});
  return as_f32(n, y);
}
void product_nf4(Net& n) { compressed_product(n, 1, decompressed(n, ElementType::nf4, 39, true, false)); }
void product_nf4_rows(Net& n) { compressed_product(n, 11, decompressed(n, ElementType::nf4, 39, false, false)); }
void product_f4e2m1(Net& n) { compressed_product(n, 2, decompressed(n, ElementType::f4e2m1, 35, true, false)); }
void product_f8e4m3(Net& n) { compressed_product(n, 1, decompressed(n, ElementType::f8e4m3, 36, true, false)); }
void product_f8e5m2(Net& n) { compressed_product(n, 8, decompressed(n, ElementType::f8e5m2, 34, false, false)); }
void product_of_book(Net& n) { compressed_product(n, 1, picked(n, 37)); }
void embedding_f4e2m1(Net& n) {
  n.result(n.op("Gather-8", {decompressed(n, ElementType::f4e2m1, 49, true, false), lengths(n), n.index(0)}));
}
void product_u4(Net& n) { compressed_product(n, 2, decompressed(n, ElementType::u4, 39, true, true)); }
void product_u4_rows(Net& n) { compressed_product(n, 19, decompressed(n, ElementType::u4, 39, true, true)); }
void product_i4(Net& n) { compressed_product(n, 1, decompressed(n, ElementType::i4, 34, true, false)); }
void product_u8(Net& n) { compressed_product(n, 3, decompressed(n, ElementType::u8, 37, false, true)); }
void product_i8_rows(Net& n) { compressed_product(n, 9, decompressed(n, ElementType::i8, 70, false, false)); }
void embedding_u4(Net& n) {
  n.result(n.op("Gather-8", {decompressed(n, ElementType::u4, 49, true, true), lengths(n), n.index(0)}));
}
void embedding_i8(Net& n) {
  n.result(n.op("Gather-8", {decompressed(n, ElementType::i8, 44, false, false), lengths(n), n.index(0)}));
}
void product_u2(Net& n) { compressed_product(n, 1, decompressed(n, ElementType::u2, 37, true, true)); }
void product_u3_rows(Net& n) { compressed_product(n, 9, decompressed(n, ElementType::u3, 38, true, true)); }
void product_nvfp4(Net& n) { compressed_product(n, 1, decompressed(n, ElementType::f4e2m1, 36, true, false, 0, 16)); }

/// Matrices of experts, each for rows of its own.
void experts(Net& n, i64 matrices_of_rows, i64 rows, int weights) {
  const auto x = as_f32(n, n.input({matrices_of_rows, rows, 96}));
  n.result(n.op("Swish-4", {n.op("MatMul-1", {x, weights}, {{"transpose_b", "true"}})}));
}
void experts_u4(Net& n) { experts(n, 3, 2, decompressed(n, ElementType::u4, 39, true, true, 3)); }
void experts_i8(Net& n) { experts(n, 1, 1, decompressed(n, ElementType::i8, 70, false, false, 4)); }
void experts_u8_rows(Net& n) { experts(n, 2, 9, decompressed(n, ElementType::u8, 37, false, true, 2)); }
void experts_i4_rows(Net& n) { experts(n, 1, 11, decompressed(n, ElementType::i4, 35, true, false, 3)); }
void experts_bias(Net& n) {
  const auto x = as_f32(n, n.input({2, 3, 1, 96}));
  const auto y = n.op("MatMul-1", {x, decompressed(n, ElementType::u4, 36, true, false, 3)}, {{"transpose_b", "true"}});
  n.result(n.op("Relu-1", {n.op("Add-1", {y, as_f32(n, n.weights({36}))})}));
}

/// A decoder's embedding that is its last matrix, too.
void tied(Net& n, ElementType codes, bool grouped) {
  const auto weights = decompressed(n, codes, 53, grouped, true);
  n.result(n.op("Gather-8", {weights, lengths(n), n.index(0)}));
  compressed_product(n, 1, weights);
}
void tied_u8(Net& n) { tied(n, ElementType::u8, false); }
void tied_u4(Net& n) { tied(n, ElementType::u4, true); }

// clang-format off
constexpr Example kExamples[] = {
    {"compressed.matmul+Swish", product_u4},
    {"compressed.matmul+Swish", product_u4, kOnce},
    {"compressed.matmul+Swish", product_u4_rows, kOften, kOpen},
    {"compressed.matmul+Swish", product_i4},
    {"compressed.matmul+Swish", product_u8},
    {"compressed.matmul+Swish", product_i8_rows, kOnce, kOpen},
    {"compressed.matmul+Swish", product_nf4},
    {"compressed.matmul+Swish", product_nf4_rows, kOnce},
    {"compressed.matmul+Swish", product_f4e2m1, kOnce},
    {"compressed.matmul+Swish", product_f8e4m3},
    {"compressed.matmul+Swish", product_f8e5m2, kOnce},
    {"compressed.matmul+Swish", product_of_book},
    {"compressed.matmul+Swish", product_u2},
    {"compressed.matmul+Swish", product_u3_rows, kOnce},
    {"compressed.matmul+Swish", product_nvfp4},
    {"compressed.gather", embedding_f4e2m1},
    {"compressed.gather", embedding_u4},
    {"compressed.gather", embedding_i8, kOnce},
    {"compressed.matmul+Swish", experts_u4},
    {"compressed.matmul+Swish", experts_u4, kOnce},
    {"compressed.matmul+Swish", experts_i8},
    {"compressed.matmul+Swish", experts_u8_rows},
    {"compressed.matmul+Swish", experts_i4_rows, kOnce},
    {"compressed.matmul+bias+Relu", experts_bias, kOften, kOpen},
    {"compressed.gather", tied_u8, kOften, kOpen},
    {"compressed.matmul+Swish", tied_u8, kOnce},
    {"compressed.matmul+Swish", tied_u4},
    {"compressed.gather", tied_u4, kOnce},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"compressed_weights", kExamples};

}  // namespace ovir::testing::patterns::compressed_weights
