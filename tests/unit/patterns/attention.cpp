#include <limits>

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
void attention_of_windows(Net& n) {  // batches of batches, one head of keys and values for all
  const auto q = n.input({2, 3, 4, 5, 8}), k = n.input({2, 3, 1, 9, 8}), v = n.input({2, 3, 1, 9, 6});
  n.result(n.op("ScaledDotProductAttention-13", {q, k, v, n.weights({1, 4, 5, 9})}, {{"causal", "false"}}));
}
void attention_with_sinks(Net& n, i64 queries, i64 keys, bool causal) {  // a number a head, as GPT-OSS has
  const auto q = n.input({2, 3, queries, 8}), k = n.input({2, 3, keys, 8}), v = n.input({2, 3, keys, 9});
  const auto mask = n.input({2, 1, queries, keys}), scale = n.numbers({0.7F}, {}), sink = n.weights({1, 3, 1, 1}, 3);
  n.result(n.op("ScaledDotProductAttention-13", {q, k, v, mask, scale, sink}, {{"causal", causal ? "true" : "false"}}));
}
void sinks_of_heads(Net& n) { attention_with_sinks(n, 35, 40, false); }
void sinks_of_heads_few_rows(Net& n) { attention_with_sinks(n, 2, 70, false); }
void sinks_of_heads_many_keys(Net& n) { attention_with_sinks(n, 9, 700, false); }
void sinks_of_heads_causal(Net& n) { attention_with_sinks(n, 530, 530, true); }
void sinks_of_queries(Net& n) {
  const auto q = n.input({2, 5, 8}), k = n.input({2, 7, 8}), v = n.input({2, 7, 9}), mask = n.numbers({0}, {});
  const auto sink = n.input({2, 5, 1});
  n.result(n.op("ScaledDotProductAttention-13", {q, k, v, mask, n.numbers({0.5F}, {}), sink}, {{"causal", "false"}}));
}
void attention_of_one_memory(Net& n) {  // the same keys and values for all batches
  const auto q = n.input({3, 2, 20, 8}), k = n.weights({1, 2, 40, 8}), v = n.weights({1, 2, 40, 8});
  n.result(n.op("ScaledDotProductAttention-13", {q, k, v}, {{"causal", "false"}}));
}
void spelled_attention_of_windows(Net& n) {
  const auto q = n.input({2, 3, 4, 5, 8}), k = n.input({2, 3, 4, 9, 8}), v = n.input({2, 3, 4, 9, 6});
  const auto scores = n.op("Add-1", {matmul(n, q, k, true), n.weights({4, 5, 9})});
  n.result(matmul(n, n.op("Softmax-8", {scores}, {{"axis", "-1"}}), v));
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
/// A factor a head and a bias, as Swin V2 has them, in windows.
int windows_scores(Net& n, i64 rows, i64 keys) {
  const auto q = n.input({6, 3, rows, 8}), k = n.input({6, 3, keys, 8});
  const auto factors = n.numbers({0.5F, -2, 3}, {1, 3, 1, 1});
  return n.op("Add-1", {n.op("Multiply-1", {matmul(n, q, k, true), factors}), n.weights({1, 3, rows, keys})});
}
int windows_values(Net& n, int scores, i64 keys) {
  return matmul(n, n.op("Softmax-8", {scores}, {{"axis", "-1"}}), n.input({6, 3, keys, 5}));
}
void factors_by_head(Net& n) { n.result(windows_values(n, windows_scores(n, 9, 11), 11)); }
void factors_by_head_few_rows(Net& n) { n.result(windows_values(n, windows_scores(n, 3, 70), 70)); }
/// Two images of three windows, which see different parts.
void shifted_windows(Net& n) {
  auto x = n.op("Reshape-1", {windows_scores(n, 30, 13), n.indices({2, 3, 3, 30, 13})}, {{"special_zero", "false"}});
  x = n.op("Add-1", {n.weights({1, 3, 1, 30, 13}, 5), n.op("Add-1", {x, n.weights({3, 1, 30, 13})})});
  x = n.op("Reshape-1", {x, n.indices({6, 3, 30, 13})}, {{"special_zero", "false"}});
  n.result(windows_values(n, x, 13));
}
/// Of whose windows the first and the last see the same.
void alike_windows(Net& n) {
  const auto a = n.weights({1, 1, 1, 30, 13}, 5), b = n.weights({1, 1, 1, 30, 13}, 5);
  auto x = n.op("Reshape-1", {windows_scores(n, 30, 13), n.indices({2, 3, 3, 30, 13})}, {{"special_zero", "false"}});
  x = n.op("Add-1", {x, n.op("Concat-1", {a, b, a}, {{"axis", "1"}})});
  x = n.op("Reshape-1", {x, n.indices({6, 3, 30, 13})}, {{"special_zero", "false"}});
  n.result(windows_values(n, x, 13));
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
/// Nothing says how many heads there are before they are repeated.
void grouped_attention_open(Net& n) {
  const auto shape = n.op("ShapeOf-3", {n.input({2, 5})}, {{"output_type", "i64"}});
  const auto batch = n.op("Gather-8", {shape, n.indices({0}), n.index(0)});
  const auto lengths = n.op("Concat-1", {batch, n.indices({-1, 9, 8})}, {{"axis", "0"}});
  const auto wide = n.op("Concat-1", {batch, n.indices({3, 2, 9, 8})}, {{"axis", "0"}});
  const auto repeat = [&](int x) {
    const auto heads = n.op("Reshape-1", {x, lengths}, {{"special_zero", "false"}});
    const auto y =
        n.op("Broadcast-3", {n.op("Unsqueeze-1", {heads, n.indices({2})}), wide}, {{"mode", "bidirectional"}});
    return n.op("Reshape-1", {y, n.indices({0, 6, -1, 8})}, {{"special_zero", "true"}});
  };
  const auto q = n.input({2, 6, 5, 8}), k = repeat(n.input({2, 27, 8})), v = repeat(n.input({2, 27, 8}));
  n.result(n.op("ScaledDotProductAttention-13", {q, k, v}, {{"causal", "false"}}));
}
void grouped_attention_one(Net& n) { grouped_attention(n, 1); }
void grouped_attention_some(Net& n) { grouped_attention(n, 7); }

int attention(Net& n, const std::vector<int>& operands) {
  return n.op("ScaledDotProductAttention-13", operands, {{"causal", "false"}});
}
/// Parts along an axis that only tells them apart.
std::vector<int> squeezed(Net& n, int x, const std::string& parts) {
  const auto split = n.op("Split-1", {x, n.index(0)}, {{"num_splits", parts}}, std::stoi(parts));
  std::vector<int> list;
  for (int port = 0; port < std::stoi(parts); ++port)
    list.push_back(n.op("Squeeze-1", {n.model.graph.output(split, port), n.indices({0})}));
  return list;
}
/// Queries, keys and values that one product gives side by side.
void parts_of_heads(Net& n) {
  const auto x = n.op("Transpose-1", {n.input({2, 7, 3, 4, 8}), n.indices({2, 0, 3, 1, 4})});
  n.result(n.op("Transpose-1", {attention(n, squeezed(n, x, "3")), n.indices({0, 2, 1, 3})}));
}
void parts_first(Net& n) {  // nothing to transpose; keys are of the same length as queries
  n.result(attention(n, squeezed(n, n.input({3, 2, 4, 9, 8}), "3")));
}
void parts_of_keys_and_values(Net& n) {
  const auto q = n.op("Transpose-1", {n.input({2, 6, 3, 8}), n.indices({0, 2, 1, 3})});
  const auto x = n.op("Transpose-1", {n.input({2, 11, 2, 3, 8}), n.indices({2, 0, 3, 1, 4})});
  const auto kv = squeezed(n, x, "2");
  n.result(attention(n, {q, kv[1], kv[0]}));
}
/// Columns of different numbers, and keys that are transposed.
void parts_of_columns(Net& n) {
  const auto x = n.input({2, 7, 4, 21});
  const auto split = n.op("VariadicSplit-1", {x, n.index(3), n.indices({8, 8, 5})}, {}, 3);
  const auto part = [&](int port, std::initializer_list<i64> order) {
    return n.op("Transpose-1", {n.model.graph.output(split, port), n.indices(order)});
  };
  const auto scores = n.op("MatMul-1", {part(0, {0, 2, 1, 3}), part(1, {0, 2, 3, 1})});
  n.result(n.op("MatMul-1", {n.op("Softmax-8", {scores}, {{"axis", "-1"}}), part(2, {0, 2, 1, 3})}));
}
void parts_that_others_read(Net& n) {  // the values, so the Split stays
  const auto x = n.op("Transpose-1", {n.input({2, 7, 3, 4, 8}), n.indices({2, 0, 3, 1, 4})});
  const auto parts = squeezed(n, x, "3");
  n.result(attention(n, parts));
  n.result(parts[2]);
}

/// As exporters to ONNX write it: the root of the factor for queries and keys, and keys transposed once more.
void factors_before_product(Net& n) {
  const auto x = n.op("Transpose-1", {n.input({2, 7, 3, 4, 8}), n.indices({2, 0, 3, 1, 4})});
  const auto parts = squeezed(n, x, "3");
  const auto q = n.op("Multiply-1", {parts[0], n.numbers({0.6F}, {1})});
  const auto k = n.op("Multiply-1", {n.numbers({0.6F}, {}), n.op("Transpose-1", {parts[1], n.indices({0, 1, 3, 2})})});
  const auto y = n.op("MatMul-1", {n.op("Softmax-8", {n.op("MatMul-1", {q, k})}, {{"axis", "-1"}}), parts[2]});
  n.result(n.op("Transpose-1", {y, n.indices({0, 2, 1, 3})}));
}
void factors_before_operation(Net& n) {
  const auto twice = [&](int x) {
    return n.op("Transpose-1", {n.op("Transpose-1", {x, n.indices({0, 3, 1, 2})}), n.indices({0, 2, 3, 1})});
  };
  const auto q = n.op("Divide-1", {n.input({2, 3, 5, 8}), n.numbers({1.7F}, {1, 1, 1, 1})});
  const auto k = n.op("Multiply-1", {twice(n.input({2, 3, 9, 8})), n.numbers({-0.8F}, {})});
  n.result(attention(n, {q, k, twice(n.input({2, 3, 9, 8}))}));
}
/// What is multiplied by a number a head, and values by one, are steps of their own.
void factors_that_stay(Net& n) {
  const auto q = n.op("Multiply-1", {n.input({2, 3, 5, 8}), n.numbers({0.5F, -2, 3}, {3, 1, 1})});
  const auto v = n.op("Multiply-1", {n.input({2, 3, 9, 8}), n.numbers({0.3F}, {})});
  n.result(attention(n, {q, n.input({2, 3, 9, 8}), v}));
}
/// Heads that are repeated before keys are transposed and multiplied.
void grouped_attention_spelled_out(Net& n) {
  const auto q = n.op("Multiply-1", {n.input({2, 6, 5, 8}), n.numbers({0.6F}, {})});
  const auto keys = n.op("Transpose-1", {repeated(n, n.input({2, 3, 9, 8})), n.indices({0, 1, 3, 2})});
  const auto k = n.op("Multiply-1", {keys, n.numbers({0.6F}, {})});
  const auto v = repeated(n, n.input({2, 3, 9, 8}));
  n.result(n.op("MatMul-1", {n.op("Softmax-8", {n.op("MatMul-1", {q, k})}, {{"axis", "-1"}}), v}));
}

/// Slices, and Gathers of one place, instead of a Split; for keys batch and heads are joined while they are transposed.
int slice(Net& n, int x, i64 place, i64 axis, i64 length = 1) {
  return n.op("Slice-8", {x, n.indices({place}), n.indices({place + length}), n.indices({1}), n.indices({axis})});
}
int heads_transposed(Net& n, int x, std::initializer_list<i64> joined, std::initializer_list<i64> apart) {
  const auto y = n.op("Reshape-1", {x, n.indices(joined)}, {{"special_zero", "false"}});
  const auto z = n.op("Transpose-1", {y, n.indices({0, 2, 1})});
  return n.op("Reshape-1", {z, n.indices(apart)}, {{"special_zero", "true"}});
}
int weighted(Net& n, int scores, int v) { return matmul(n, n.op("Softmax-8", {scores}, {{"axis", "-1"}}), v); }
void slices_of_heads(Net& n) {
  const auto x = n.op("Transpose-1", {n.input({2, 7, 3, 4, 8}), n.indices({2, 0, 3, 1, 4})});
  const auto q = n.op("Squeeze-1", {slice(n, x, 0, 0), n.indices({0})});
  const auto k = heads_transposed(n, slice(n, x, 1, 0), {-1, 7, 8}, {-1, 4, 8, 7});
  const auto v = n.op("Gather-8", {x, n.index(2), n.index(0)});
  n.result(weighted(n, matmul(n, n.op("Multiply-1", {q, n.numbers({0.4F}, {1})}), k), v));
}
void slices_of_columns(Net& n) {  // behind a Transpose that somebody else reads as well
  const auto x = n.op("Transpose-1", {n.input({2, 7, 3, 24}), n.indices({0, 2, 1, 3})});
  n.result(attention(n, {slice(n, x, 0, 3, 8), slice(n, x, -16, 3, 8), slice(n, x, 16, 3, 8)}));
  n.result(n.op("Abs-1", {x}));
}
void joined_heads(Net& n) {
  const auto k = heads_transposed(n, n.input({2, 3, 9, 8}), {-1, 9, 8}, {-1, 3, 8, 9});
  n.result(weighted(n, matmul(n, n.input({2, 3, 5, 8}), k), n.input({2, 3, 9, 6})));
}
void joined_heads_repeated(Net& n) {
  const auto repeat = [&](std::initializer_list<i64> shape) {
    const auto x = n.op("Unsqueeze-1", {n.input({2, 3, 9, 8}), n.indices({2})});
    const auto y = n.op("Broadcast-3", {x, n.indices({1, 1, 2, 1, 1})}, {{"mode", "bidirectional"}});
    return n.op("Reshape-1", {y, n.indices(shape)}, {{"special_zero", "true"}});
  };
  const auto z = n.op("Transpose-1", {repeat({-1, 9, 8}), n.indices({0, 2, 1})});
  const auto k = n.op("Reshape-1", {z, n.indices({-1, 6, 8, 9})}, {{"special_zero", "true"}});
  n.result(weighted(n, matmul(n, n.input({2, 6, 5, 8}), k), repeat({0, 6, 9, 8})));
}
/// Products of joined heads, as torch.export decomposes them.
int joined(Net& n, int x, i64 rows, i64 columns) {
  return n.op("Reshape-1", {x, n.indices({-1, rows, columns})}, {{"special_zero", "false"}});
}
int parted(Net& n, int x, i64 rows, i64 columns) {
  return n.op("Reshape-1", {x, n.indices({-1, 3, rows, columns})}, {{"special_zero", "false"}});
}
void joined_products(Net& n) {
  const auto q = joined(n, n.input({2, 3, 9, 8}), 9, 8), k = joined(n, n.input({2, 3, 11, 8}), 11, 8),
             v = joined(n, n.input({2, 3, 11, 5}), 11, 5);
  const auto scores = n.op("Add-1", {parted(n, matmul(n, q, k, true), 9, 11), n.weights({1, 3, 9, 11})});
  const auto y = matmul(n, joined(n, n.op("Softmax-8", {scores}, {{"axis", "-1"}}), 9, 11), v);
  n.result(n.op("Transpose-1", {parted(n, y, 9, 5), n.indices({0, 2, 1, 3})}));
}
void joined_products_of_slices(Net& n) {
  const auto x = n.op("Transpose-1", {n.input({2, 7, 3, 3, 8}), n.indices({2, 0, 3, 1, 4})});
  const auto part = [&](i64 place) { return joined(n, slice(n, x, place, 0), 7, 8); };
  const auto keys = n.op("Squeeze-1", {slice(n, x, 1, 0), n.indices({0})});
  const auto k = joined(n, n.op("Transpose-1", {keys, n.indices({0, 1, 3, 2})}), 8, 7);
  const auto scores = n.op("Multiply-1", {n.numbers({0.3F}, {}), parted(n, matmul(n, part(0), k), 7, 7)});
  n.result(parted(n, matmul(n, joined(n, n.op("Softmax-8", {scores}, {{"axis", "-1"}}), 7, 7), part(2)), 7, 8));
}
/// Joined they have other rows than before, which single products compute; those of the first attention are their own.
void joined_otherwise(Net& n) {
  n.result(attention(n, {n.input({2, 3, 5, 8}), n.input({2, 3, 9, 8}), n.input({2, 3, 9, 8})}));
  const auto part = [&] { return joined(n, n.input({2, 3, 6, 8}), 4, 8); };
  const auto scores = parted(n, matmul(n, part(), part(), true), 4, 4);
  n.result(parted(n, matmul(n, joined(n, n.op("Softmax-8", {scores}, {{"axis", "-1"}}), 4, 4), part()), 4, 8));
}

/// A query that sees no key gets zeros, which exporters to ONNX spell out.
void safe_attention(Net& n, i64 queries, i64 keys) {
  std::vector<float> mask(static_cast<std::size_t>(queries * keys));
  for (i64 i = 0; i < std::ssize(mask); ++i)
    if (i / keys % 3 == 1 || i % 7 == 2) mask[i] = -std::numeric_limits<float>::infinity();
  const auto hidden = n.constant(Tensor::of<float>(ElementType::f32, {queries, keys}, mask));
  const auto q = n.input({2, 3, queries, 8}), k = n.input({2, 3, keys, 8}), v = n.input({2, 3, keys, 5});
  const auto scores = n.op("Add-1", {matmul(n, q, k, true), hidden});
  const auto x = n.op("Softmax-8", {scores}, {{"axis", "-1"}});
  n.result(matmul(n, n.op("Select-1", {n.op("IsNaN-10", {x}), n.numbers({0}, {}), x}), v));
}
void safe_attention_of_few(Net& n) { safe_attention(n, 4, 20); }
void safe_attention_of_some(Net& n) { safe_attention(n, 11, 20); }
void safe_attention_of_many(Net& n) { safe_attention(n, 9, 700); }
/// Scores that a Select hides, where a mask is true or where it is not; a query may see no key.
void hidden_scores(Net& n, i64 queries, i64 keys, float score, bool where_true, bool computed = true) {
  const auto from = computed ? n.input({2, 1, queries, keys}) : n.weights({queries, keys});
  const auto mask = n.op("Greater-1", {from, n.numbers({0.3F}, {})});
  const auto q = n.input({2, 3, queries, 8}), k = n.input({2, 3, keys, 8}), v = n.input({2, 3, keys, 5});
  const auto scores = n.op("Multiply-1", {matmul(n, q, k, true), n.numbers({0.25F}, {})}),
             other = n.numbers({score}, {});
  const auto hidden = where_true ? n.op("Select-1", {mask, other, scores}) : n.op("Select-1", {mask, scores, other});
  n.result(weighted(n, hidden, v));
}
void hidden_scores_of_few(Net& n) { hidden_scores(n, 4, 20, -1e4F, true); }
void hidden_scores_of_some(Net& n) { hidden_scores(n, 11, 20, -1e9F, true); }
void hidden_scores_of_some_known(Net& n) { hidden_scores(n, 11, 20, -1e9F, true, false); }
void hidden_scores_of_many(Net& n) { hidden_scores(n, 9, 700, -3e38F, true); }
void seen_scores_of_few(Net& n) { hidden_scores(n, 4, 20, -0.5F, false, false); }
void seen_scores_of_some(Net& n) { hidden_scores(n, 11, 20, -0.5F, false); }
void seen_scores_of_many(Net& n) { hidden_scores(n, 9, 700, -std::numeric_limits<float>::infinity(), false, false); }
int reshaped(Net& n, int x, std::initializer_list<i64> shape) {
  return n.op("Reshape-1", {x, n.indices(shape)}, {{"special_zero", "false"}});
}
/// Keys lie in a grid: numbers by row and by column are added to the scores.
void grid(Net& n, i64 heads, i64 rows, i64 columns) {
  const auto all = rows * columns;
  const auto q = n.input({heads, all, 8});
  const auto scores = matmul(n, n.op("Multiply-1", {q, n.numbers({0.3F}, {})}), n.input({heads, all, 8}), true);
  const auto wide = reshaped(n, scores, {heads, rows, columns, rows, columns});
  const auto sum = n.op("Add-1", {wide, n.input({heads, rows, columns, rows, 1})});
  const auto both = n.op("Add-1", {n.input({heads, rows, columns, 1, columns}), sum});
  n.result(weighted(n, reshaped(n, both, {heads, all, all}), n.input({heads, all, 5})));
}
void grid_of_few(Net& n) { grid(n, 3, 2, 2); }
void grid_of_some(Net& n) { grid(n, 6, 5, 7); }
void grid_of_many(Net& n) { grid(n, 2, 24, 25); }
void grid_mask(Net& n) {
  const auto mask = n.op("Add-1", {n.input({2, 3, 35, 1, 7}), n.input({2, 3, 35, 5, 1})});
  n.result(attention(
      n, {n.input({2, 3, 35, 8}), n.input({2, 3, 35, 8}), n.input({2, 3, 35, 8}), reshaped(n, mask, {2, 3, 35, 35})}));
}
/// As PyTorch's multi-head attention has it: heads are parted behind queries, keys and values, of rows that come first.
void rows_first(Net& n, bool read) {
  const auto x = reshaped(n, matmul(n, n.input({7, 2, 24}), n.weights({24, 72})), {1, 7, 2, 3, 24});
  const auto parts = n.op("Squeeze-1", {n.op("Transpose-1", {x, n.indices({3, 1, 2, 0, 4})}), n.indices({3})});
  const auto part = [&](i64 place) {
    const auto heads = reshaped(n, n.op("Gather-8", {parts, n.index(place), n.index(0)}), {7, 6, 8});
    return reshaped(n, n.op("Transpose-1", {heads, n.indices({1, 0, 2})}), {2, 3, 7, 8});
  };
  const auto q = part(0);
  const auto y = n.op("Transpose-1", {attention(n, {q, part(1), part(2)}), n.indices({2, 0, 1, 3})});
  n.result(relu(n, reshaped(n, y, {14, 24})));
  if (read) n.result(relu(n, q));
}
void heads_of_rows(Net& n) { rows_first(n, false); }
void heads_of_rows_read(Net& n) { rows_first(n, true); }
void two_masks(Net& n) {
  const auto scores =
      n.op("Add-1", {n.input({1, 3, 9, 11}), matmul(n, n.input({1, 3, 9, 8}), n.input({1, 3, 11, 8}), true)});
  n.result(weighted(n, n.op("Add-1", {scores, n.input({1, 1, 1, 11})}), n.input({1, 3, 11, 8})));
}

/// Operands are rounded to 8 bits.
constexpr float kBf16 = 1e-2F;

// clang-format off
constexpr Example kExamples[] = {
    {"attention", scaled_attention},
    {"attention", scaled_attention, kOnce, kOpen},
    {"attention", causal_attention},
    {"attention", attention_of_windows},
    {"attention", attention_of_one_memory},
    {"attention", sinks_of_heads},
    {"attention", sinks_of_heads, kOnce, kOpen},
    {"attention", sinks_of_heads_few_rows},
    {"attention", sinks_of_heads_many_keys},
    {"attention", sinks_of_heads_causal},
    {"attention", sinks_of_queries},
    {"attention", spelled_attention_of_windows},
    {"attention", spelled_attention},
    {"attention", spelled_attention, kOnce},
    {"attention", spelled_attention_divided},
    {"attention", spelled_attention_divided, kOnce, kOpen},
    {"attention", spelled_attention_plain},
    {"attention", factors_by_head},
    {"attention", factors_by_head, kOnce, kOpen},
    {"attention", factors_by_head_few_rows},
    {"attention", shifted_windows},
    {"attention", alike_windows},
    {"attention", shifted_windows, kOnce},
    {"bf16.attention", shifted_windows, kOften, kFixed, true, kBf16, Precision::bf16},
    {"attention", seen_attention, kOften, kFixed, kF32Only},
    {"attention", seen_attention, kOnce, kOpen, kF32Only},
    {"attention", spelled_attention_transposed},
    {"attention", spelled_attention_transposed, kOnce, kOpen},
    {"attention+groups", grouped_attention_one},
    {"attention+groups", grouped_attention_some, kOnce, kOpen},
    {"attention+groups", grouped_attention_exported, kOnce, kOpen},
    {"attention+groups", grouped_attention_open, kOnce, kOpen},
    {"attention+parts", parts_of_heads},
    {"attention+parts", parts_of_heads, kOnce, kOpen},
    {"attention+parts", parts_first},
    {"attention+parts", parts_of_keys_and_values},
    {"attention+parts", parts_of_columns},
    {"attention+parts", parts_of_columns, kOnce, kOpen},
    {"attention", parts_that_others_read},
    {"attention+parts", factors_before_product},
    {"attention+parts", factors_before_product, kOnce, kOpen},
    {"bf16.attention+parts", factors_before_product, kOften, kFixed, true, kBf16, Precision::bf16},
    {"attention", factors_before_operation},
    {"attention", factors_before_operation, kOnce, kOpen},
    {"attention", factors_that_stay},
    {"attention+parts", slices_of_heads},
    {"attention+parts", slices_of_heads, kOnce, kOpen},
    {"attention+parts", slices_of_columns},
    {"attention+parts", slices_of_columns, kOnce, kOpen},
    {"attention", joined_heads},
    {"attention", joined_heads, kOnce, kOpen},
    {"attention", joined_products},
    {"attention", joined_products, kOnce, kOpen},
    {"attention+parts", joined_products_of_slices},
    {"attention", joined_otherwise},
    {"attention+groups", joined_heads_repeated},
    {"attention+groups", joined_heads_repeated, kOnce, kOpen},
    {"attention", safe_attention_of_few, kOften, kFixed, kF32Only},
    {"attention", safe_attention_of_some, kOften, kFixed, kF32Only},
    {"attention", safe_attention_of_many, kOnce, kFixed, kF32Only},
    {"bf16.attention", safe_attention_of_some, kOften, kFixed, kF32Only, kBf16, Precision::bf16},
    {"attention", hidden_scores_of_few, kOften, kFixed, kF32Only},
    {"attention", hidden_scores_of_some, kOften, kFixed, kF32Only},
    {"attention", hidden_scores_of_some_known, kOnce, kOpen, kF32Only},
    {"attention", hidden_scores_of_many, kOften, kFixed, kF32Only},
    {"attention", seen_scores_of_few, kOnce, kOpen, kF32Only},
    {"attention", seen_scores_of_some, kOften, kFixed, kF32Only},
    {"attention", seen_scores_of_many, kOften, kOpen, kF32Only},
    {"attention", grid_of_few},
    {"attention", grid_of_some},
    {"attention", grid_of_some, kOnce},
    {"attention", grid_of_many},
    {"bf16.attention", grid_of_some, kOften, kFixed, true, kBf16, Precision::bf16},
    {"attention", grid_mask},
    {"attention+parts", heads_of_rows},
    {"attention+parts", heads_of_rows, kOnce},
    {"bf16.attention+parts", heads_of_rows, kOften, kFixed, true, kBf16, Precision::bf16},
    {"attention", heads_of_rows_read},
    {"attention", two_masks},
    {"attention", two_masks, kOnce, kOpen},
    {"attention+groups", grouped_attention_spelled_out},
    {"attention+groups", grouped_attention_spelled_out, kOnce, kOpen},
    {"bf16.attention+parts", parts_of_heads, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.attention", spelled_attention_transposed, kOften, kFixed, true, kBf16, Precision::bf16},
    {"bf16.attention+groups", grouped_attention_some, kOnce, kOpen, true, kBf16, Precision::bf16},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"attention", kExamples};

}  // namespace ovir::testing::patterns::attention
