#include "pattern_examples.hpp"

namespace ovir::testing::patterns::experts {
namespace {

/// Each of `experts` experts has all tokens.
int tiled(Net& n, int tokens, i64 experts, i64 depth) {
  const auto x = n.op("Tile-1", {tokens, n.indices({experts, 1})});
  return n.op("Reshape-1", {x, n.indices({experts, -1, depth})}, {{"special_zero", "false"}});
}
/// The sum by weights of which half are 0; `wide`: the terms are f32 in any model.
void weighted(Net& n, int y, i64 tokens, i64 experts, bool wide = false) {
  const auto given = relu(n, n.input({tokens, experts}));
  const auto weights = n.op("Transpose-1", {wide ? as_f32(n, given) : given, n.indices({1, 0})});
  const auto product = n.op("Multiply-1", {y, n.op("Unsqueeze-1", {weights, n.index(2)})});
  n.result(n.op("ReduceSum-1", {product, n.indices({0})}, {{"keep_dims", "false"}}));
}
int gated(Net& n, int gate, int up) { return n.op("Multiply-1", {n.op("Swish-4", {gate}), up}); }

/// As Qwen3-Next: matrices by rows.
void three_products(Net& n, i64 tokens) {
  constexpr i64 experts = 5, depth = 24, width = 40;
  const auto x = tiled(n, n.input({tokens, depth}), experts, depth);
  const auto gate = matmul(n, x, n.weights({experts, width, depth}), true),
             up = matmul(n, x, n.weights({experts, width, depth}, 2), true);
  weighted(n, matmul(n, gated(n, gate, up), n.weights({experts, depth, width}), true), tokens, experts);
}
void many_tokens(Net& n) { three_products(n, 37); }
void one_token(Net& n) { three_products(n, 1); }

/// As GPT-OSS: one product has the gate in every second column, bounds and biases.
void alternating(Net& n) {
  constexpr i64 experts = 4, depth = 19, width = 33, tokens = 21;
  const auto x = tiled(n, n.input({tokens, depth}), experts, depth);
  const auto both =
      n.op("Add-1", {matmul(n, x, n.weights({experts, depth, 2 * width}, 4)), n.weights({experts, 1, 2 * width})});
  const auto part = [&](i64 first) {
    return n.op("Slice-8", {both, n.indices({first}), n.indices({1000}), n.indices({2}), n.indices({2})});
  };
  const auto gate = n.op("Minimum-1", {part(0), n.numbers({0.4F}, {1, 1, 1})});
  const auto up = n.op("Add-1", {n.op("Clamp-1", {part(1)}, {{"min", "-0.5"}, {"max", "0.5"}}), n.numbers({1}, {})});
  const auto hidden = n.op("Multiply-1", {up, n.op("Swish-4", {gate, n.numbers({1.702F}, {})})});
  const auto y = matmul(n, hidden, n.weights({experts, width, depth}));
  weighted(n, n.op("Add-1", {y, n.weights({experts, 1, depth}, 2)}), tokens, experts);
}

/// Halves of one product, results of other axes than the tokens.
void halves(Net& n) {
  constexpr i64 experts = 3, depth = 16, width = 20, tokens = 6;
  const auto rows = n.op("Reshape-1", {n.input({2, 3, depth}), n.indices({-1, depth})}, {{"special_zero", "false"}});
  const auto both = matmul(n, tiled(n, rows, experts, depth), n.weights({experts, 2 * width, depth}), true);
  const auto part = [&](i64 first) {
    return n.op("Slice-8", {both, n.indices({first}), n.indices({first + width}), n.indices({1}), n.indices({-1})});
  };
  const auto gate = n.op("Gelu-7", {part(0)}, {{"approximation_mode", "TANH"}});
  const auto hidden = n.op("Multiply-1", {gate, part(width)});
  auto y = matmul(n, hidden, n.weights({experts, depth, width}), true);
  y = n.op("Reshape-1", {y, n.indices({experts, 2, tokens / 2, depth})}, {{"special_zero", "false"}});
  const auto weights = n.op("Reshape-1", {relu(n, n.input({experts, tokens})), n.indices({experts, 2, tokens / 2, 1})},
                            {{"special_zero", "false"}});
  n.result(n.op("ReduceSum-1", {n.op("Multiply-1", {weights, y}), n.indices({0})}, {{"keep_dims", "true"}}));
}

/// Matrices of f16, more than caches hold.
void narrow(Net& n) {
  constexpr i64 experts = 4, depth = 256, width = 256, tokens = 3;
  const auto x = tiled(n, as_f32(n, n.input({tokens, depth})), experts, depth);
  const auto gate = matmul(n, x, narrow_weights(n, {experts, width, depth}), true),
             up = matmul(n, x, narrow_weights(n, {experts, width, depth}), true);
  weighted(n, matmul(n, gated(n, gate, up), narrow_weights(n, {experts, depth, width}), true), tokens, experts, true);
}

void compressed(Net& n, ElementType codes, bool grouped, bool zero, i64 tokens) {
  constexpr i64 experts = 3, depth = 96, width = 96;
  const auto x = tiled(n, as_f32(n, n.input({tokens, depth})), experts, depth);
  const auto matrices = [&] { return decompressed(n, codes, width, grouped, zero, experts); };
  const auto gate = matmul(n, x, matrices(), true), up = matmul(n, x, matrices(), true);
  weighted(n, matmul(n, gated(n, gate, up), matrices(), true), tokens, experts, true);
}
void compressed_u4(Net& n) { compressed(n, ElementType::u4, true, true, 1); }
void compressed_i8(Net& n) { compressed(n, ElementType::i8, false, false, 29); }
/// Of one or two rows in digits (AVX-512): codes are bytes around 128 there, so sums of these codes, of 4 bits, are 16
/// times as large before 128 times the sum of the data is taken off.
constexpr float kBytes = 2e-5F;

// clang-format off
constexpr Example kExamples[] = {
    {"experts", many_tokens},
    {"experts", many_tokens, kOften, kOpen},
    {"experts", many_tokens, kOnce},
    {"experts", many_tokens, kOnce, kOpen},
    {"experts", one_token},
    {"experts", one_token, kOnce},
    {"experts", alternating},
    {"experts", alternating, kOften, kOpen},
    {"experts", alternating, kOnce, kOpen},
    {"experts", halves},
    {"experts", narrow},
    {"experts", narrow, kOften, kOpen},
    {"experts", narrow, kOnce},
    {"compressed.experts", compressed_u4},
    {"compressed.experts", compressed_u4, kOften, kOpen},
    {"compressed.experts", compressed_i8},
    {"compressed.experts", compressed_i8, kOften, kOpen, true, kBytes},
    {"compressed.experts", compressed_u4, kOnce},
    {"compressed.experts", compressed_i8, kOnce, kOpen, true, kBytes},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"experts", kExamples};

}  // namespace ovir::testing::patterns::experts
