// Examples of what language models are made of.
#include "pattern_examples.hpp"

namespace ovir::testing {
namespace {

void seen_attention(Net& n) {  // a mask that says what is seen, and heads that are transposed around it
  const auto heads = [&](i64 rows) { return n.op("Transpose-1", {n.input({2, rows, 3, 8}), n.indices({0, 2, 1, 3})}); };
  const auto q = heads(5), k = heads(9), v = heads(9);
  const auto mask = n.op("Greater-1", {n.weights({5, 9}), n.numbers({-0.4F}, {})});
  const auto y = n.op("ScaledDotProductAttention-13", {q, k, v, mask}, {{"causal", "false"}});
  n.result(n.op("Transpose-1", {y, n.indices({0, 2, 1, 3})}));
}
void spelled_attention_transposed(Net& n) {
  const auto q = n.op("Transpose-1", {n.input({2, 7, 3, 8}), n.indices({0, 2, 1, 3})});
  const auto k = n.op("Transpose-1", {n.input({2, 9, 3, 8}), n.indices({0, 2, 3, 1})});
  const auto v = n.op("Transpose-1", {n.input({2, 9, 3, 8}), n.indices({0, 2, 1, 3})});
  const auto y = n.op("MatMul-1", {n.op("Softmax-8", {n.op("MatMul-1", {q, k})}, {{"axis", "-1"}}), v});
  n.result(n.op("Transpose-1", {y, n.indices({0, 2, 1, 3})}));
}

/// Every two heads of queries have the same keys and values.
int repeated(Net& n, int x) {
  const auto shape = n.op("ShapeOf-3", {x}, {{"output_type", "i64"}});
  const auto part = [&](i64 a, i64 b) { return n.op("Gather-8", {shape, n.indices({a, b}), n.index(0)}); };
  const auto wide = n.op("Concat-1", {part(0, 1), n.indices({2}), part(2, 3)}, {{"axis", "0"}});
  const auto y = n.op("Broadcast-3", {n.op("Unsqueeze-1", {x, n.indices({2})}), wide}, {{"mode", "bidirectional"}});
  return n.op("Reshape-1", {y, n.indices({0, 6, -1, 8})}, {{"special_zero", "true"}});
}
void grouped_attention(Net& n, i64 queries) {
  const auto q = n.input({2, 6, queries, 8}), k = n.input({2, 3, 9, 8}), v = n.input({2, 3, 9, 8});
  n.result(n.op("ScaledDotProductAttention-13", {q, repeated(n, k), repeated(n, v), n.weights({queries, 9})},
                {{"causal", "false"}}));
}
void grouped_attention_one(Net& n) { grouped_attention(n, 1); }
void grouped_attention_some(Net& n) { grouped_attention(n, 7); }

// --- compressed weights

int lengths(Net& n) { return n.model.graph.parameter("lengths", ElementType::i32, {2}); }

/// (codes - zero) · scale for groups of 32, as [rows][96].
int decompressed(Net& n, ElementType codes, i64 rows, bool grouped, bool zero) {
  constexpr i64 columns = 96, group = 32;
  const Shape shape = grouped ? Shape{rows, columns / group, group} : Shape{rows, columns};
  auto of_groups = shape;
  of_groups[of_groups.rank() - 1] = 1;
  const bool is_signed = codes == ElementType::i4 || codes == ElementType::i8;
  const auto small = [&](const Shape& s, std::size_t step) {
    std::vector<float> values(static_cast<std::size_t>(s.count()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((i * step + i / 7) % 16) - (is_signed ? 8.0F : 0.0F);
    return n.op("Convert-1", {n.constant(pack(convert(floats(s, values), codes)))},
                {{"destination_type", std::string(name(n.type()))}});
  };
  auto y = small(shape, 5);
  if (zero) y = n.op("Subtract-1", {y, small(of_groups, 3)});
  y = n.op("Multiply-1", {y, n.weights(of_groups)});
  if (grouped) y = n.op("Reshape-1", {y, n.indices({rows, columns})}, {{"special_zero", "false"}});
  return n.type() == ElementType::f32 ? y : n.op("Convert-1", {y}, {{"destination_type", "f32"}});
}
int as_f32(Net& n, int x) {
  return n.type() == ElementType::f32 ? x : n.op("Convert-1", {x}, {{"destination_type", "f32"}});
}
void compressed_product(Net& n, i64 rows, int weights) {
  const auto y = n.op("MatMul-1", {as_f32(n, n.input({1, rows, 96})), weights}, {{"transpose_b", "true"}});
  n.result(n.op("Swish-4", {y}));
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

// --- normalization

int root_mean_square(Net& n, int squares) {
  const auto mean = n.op("ReduceMean-1", {squares, n.indices({-1})}, {{"keep_dims", "true"}});
  return n.op("Sqrt-1", {n.op("Add-1", {mean, n.numbers({1e-5F}, {1, 1})})});
}
void rms(Net& n) {
  const auto x = n.input({3, 37});
  const auto root = root_mean_square(n, n.op("Power-1", {x, n.numbers({2}, {})}));
  const auto y = n.op("Multiply-1", {x, n.op("Divide-1", {n.numbers({1}, {}), root})});
  n.result(n.op("Multiply-1", {n.weights({37}), y}));
}
void rms_divided(Net& n) {
  const auto x = n.input({3, 5, 16});
  n.result(n.op("Divide-1", {x, root_mean_square(n, n.op("Multiply-1", {x, x}))}));
}

constexpr i64 kOnce = 1, kOften = 100;
constexpr bool kOpen = true, kFixed = false, kF32Only = false;
// clang-format off
constexpr Example kExamples[] = {
    {"attention", "attention", seen_attention, kOften, kFixed, kF32Only},
    {"attention", "attention", seen_attention, kOnce, kOpen, kF32Only},
    {"attention", "attention", spelled_attention_transposed},
    {"attention", "attention", spelled_attention_transposed, kOnce, kOpen},
    {"attention", "attention+groups", grouped_attention_one},
    {"attention", "attention+groups", grouped_attention_some, kOnce, kOpen},
    {"compressed_weights", "compressed.matmul+Swish", product_u4},
    {"compressed_weights", "compressed.matmul+Swish", product_u4, kOnce},
    {"compressed_weights", "compressed.matmul+Swish", product_u4_rows, kOften, kOpen},
    {"compressed_weights", "compressed.matmul+Swish", product_i4},
    {"compressed_weights", "compressed.matmul+Swish", product_u8},
    {"compressed_weights", "compressed.matmul+Swish", product_i8_rows, kOnce, kOpen},
    {"compressed_weights", "compressed.gather", embedding_u4},
    {"compressed_weights", "compressed.gather", embedding_i8, kOnce},
    {"rms_normalization", "rms_normalization+Multiply", rms},
    {"rms_normalization", "rms_normalization+Multiply", rms, kOnce, kOpen},
    {"rms_normalization", "rms_normalization", rms_divided},
};
// clang-format on

}  // namespace

std::span<const Example> transformer_examples() { return kExamples; }

}  // namespace ovir::testing
