#include "pattern_examples.hpp"

namespace ovir::testing::patterns::attention {
namespace {

void scaled_attention(Net& n) {
  const auto q = n.input({2, 3, 5, 8}), k = n.input({2, 3, 7, 8}), v = n.input({2, 3, 7, 9}),
             mask = n.input({2, 1, 5, 7});
  n.result(n.op("ScaledDotProductAttention-13", {q, k, v, mask}, {{"causal", "false"}}));
}
void causal_attention(Net& n) {
  const auto q = n.input({2, 19, 16}), k = n.input({2, 19, 16}), v = n.input({2, 19, 16});
  n.result(n.op("ScaledDotProductAttention-13", {q, k, v}, {{"causal", "true"}}));
}
void spelled_attention(Net& n) {
  const auto q = n.input({1, 4, 6, 8}), k = n.input({1, 4, 6, 8}), v = n.input({1, 4, 6, 8});
  const auto scores = n.op("Multiply-1", {matmul(n, q, k, true), n.numbers({0.35F}, {})});
  const auto masked = n.op("Add-1", {scores, n.input({1, 1, 1, 6})});
  n.result(matmul(n, n.op("Softmax-8", {masked}, {{"axis", "-1"}}), v));
}
void spelled_attention_divided(Net& n) {
  const auto q = n.input({3, 6, 8}), k = n.input({3, 8, 11}), v = n.input({3, 11, 5});
  const auto scores = n.op("Divide-1", {matmul(n, q, k), n.numbers({2.8F}, {1, 1, 1})});
  n.result(matmul(n, n.op("Softmax-8", {scores}, {{"axis", "2"}}), v));
}
void spelled_attention_plain(Net& n) {
  const auto q = n.input({1, 2, 17, 8}), k = n.input({1, 2, 17, 8}), v = n.input({1, 2, 17, 8});
  n.result(matmul(n, n.op("Softmax-8", {matmul(n, q, k, true)}, {{"axis", "3"}}), v));
}
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
/// As exporters write it: the lengths are those of other values, of which nothing says that they are the same.
void grouped_attention_exported(Net& n) {
  const auto q = n.input({2, 6, 1, 8}), k = n.input({2, 3, 9, 8}), v = n.input({2, 3, 9, 8});
  const auto past = n.op("Sigmoid-1", {n.input({2, 3, 4, 8})}), fresh = n.op("Sigmoid-1", {n.input({2, 3, 5, 8})});
  const auto length = [&](int x, i64 axis) {
    const auto shape = n.op("ShapeOf-3", {x}, {{"output_type", "i64"}});
    return n.op("Gather-8", {shape, n.indices({axis}), n.index(0)});
  };
  const auto rows = n.op("Add-1", {length(past, 2), length(fresh, 2)});
  const auto wide =
      n.op("Concat-1", {length(q, 0), n.indices({3}), n.indices({2}), rows, n.indices({8})}, {{"axis", "0"}});
  const auto repeat = [&](int x) {
    const auto y = n.op("Broadcast-3", {n.op("Unsqueeze-1", {x, n.indices({2})}), wide}, {{"mode", "bidirectional"}});
    return n.op("Reshape-1", {y, n.indices({0, 6, -1, 8})}, {{"special_zero", "true"}});
  };
  n.result(n.op("ScaledDotProductAttention-13", {q, repeat(k), repeat(v)}, {{"causal", "false"}}));
  n.result(n.op("Concat-1", {past, fresh}, {{"axis", "2"}}));
}
void grouped_attention_one(Net& n) { grouped_attention(n, 1); }
void grouped_attention_some(Net& n) { grouped_attention(n, 7); }

/// Operands are rounded to 8 bits.
constexpr float kBf16 = 1e-2F;

// clang-format off
constexpr Example kExamples[] = {
    {"attention", scaled_attention},
    {"attention", scaled_attention, kOnce, kOpen},
    {"attention", causal_attention},
    {"attention", spelled_attention},
    {"attention", spelled_attention, kOnce},
    {"attention", spelled_attention_divided},
    {"attention", spelled_attention_divided, kOnce, kOpen},
    {"attention", spelled_attention_plain},
    {"attention", seen_attention, kOften, kFixed, kF32Only},
    {"attention", seen_attention, kOnce, kOpen, kF32Only},
    {"attention", spelled_attention_transposed},
    {"attention", spelled_attention_transposed, kOnce, kOpen},
    {"attention+groups", grouped_attention_one},
    {"attention+groups", grouped_attention_some, kOnce, kOpen},
    {"attention+groups", grouped_attention_exported, kOnce, kOpen},
    {"bf16.attention", spelled_attention_transposed, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.attention+groups", grouped_attention_some, kOnce, kOpen, true, kBf16, Precision::bf16},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"attention", kExamples};

}  // namespace ovir::testing::patterns::attention
