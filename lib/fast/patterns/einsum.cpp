// Einsum-7 of f32 operands as products of matrices (kit/einsum_product), two at a time. What lies in another order is
// transposed before and after. In plans for many runs a constant that is one of two operands is packed.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "fast/kernels/movement/permute.hpp"
#include "fast/kernels/product/batched.hpp"
#include "fast/kit/einsum_product.hpp"
#include "fast/kit/packed_matrices.hpp"

namespace ovir::fast::patterns::einsum {
namespace {

i64 product_of(const std::vector<i64>& dims) {
  i64 n = 1;
  for (const auto d : dims) n *= d;
  return n;
}

bool is_in_place(const std::vector<i64>& order) { return std::is_sorted(order.begin(), order.end()); }

/// The lengths of labels, by label.
class Lengths {
 public:
  /// False where a label has another length already: one of 1 is repeated.
  bool take(std::string_view labels, std::span<const i64> dims) {
    if (dims.size() != labels.size()) return false;
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (lengths_.emplace(labels[i], dims[i]).first->second != dims[i]) return false;
    return true;
  }
  std::vector<i64> of(std::string_view labels) const {
    std::vector<i64> dims;
    for (const char label : labels) dims.push_back(lengths_.at(label));
    return dims;
  }
  i64 of(char label) const { return lengths_.at(label); }
  i64 count(std::string_view labels) const {
    i64 n = 1;
    for (const char label : labels) n *= lengths_.at(label);
    return n;
  }
  /// The steps of all sums of a product, where they can be counted.
  double work(const std::string& a, const std::string& b) const {
    double n = 1;
    for (const auto& [label, length] : lengths_)
      if (a.find(label) != std::string::npos || b.find(label) != std::string::npos) n *= static_cast<double>(length);
    return n;
  }

 private:
  std::map<char, i64> lengths_;
};

/// The product of two operands of some lengths.
struct Pair {
  BatchedProduct product;
  std::vector<i64> a_order, b_order, out_order;
  std::vector<i64> a_dims, b_dims, dims;  ///< of the operands as they lie, and of the product
  Scratch a{}, b{}, out{}, work{};        ///< what is transposed
  int from_a = 0, from_b = 0;             ///< which values it multiplies
  Scratch result{};                       ///< where another pair reads it

  Pair(const EinsumProduct& labels, const Lengths& lengths) {
    const auto& [a_labels, b_labels, out_labels, own, rows, all_columns, sums] = labels;
    const auto [matrices, columns] = matrices_first(labels, lengths);
    const bool a_transposed = a_labels == own + sums + rows && a_labels != own + rows + sums;
    const bool b_transposed = b_labels != matrices + sums + columns;
    a_order = order_of(a_labels, a_transposed ? a_labels : own + rows + sums);
    b_order = order_of(b_labels, b_transposed ? matrices + columns + sums : b_labels);
    out_order = order_of(matrices + rows + columns, out_labels);
    a_dims = lengths.of(a_labels);
    b_dims = lengths.of(b_labels);
    dims = lengths.of(matrices + rows + columns);
    product.m = lengths.count(rows);
    product.n = lengths.count(columns);
    product.k = lengths.count(sums);
    // A matrix of one row or column is the same either way.
    product.a_transposed = a_transposed && product.m > 1 && product.k > 1;
    product.b_transposed = b_transposed || product.n == 1;
    product.a_matrices = lengths.count(own);
    product.b_matrices = lengths.count(matrices);
    product.a = {0};
    for (const char label : matrices) {
      std::vector<i64> next;
      for (const auto i : product.a)
        for (i64 j = 0; j < lengths.of(label); ++j) next.push_back(is_in(own, label) ? i * lengths.of(label) + j : i);
      product.a = std::move(next);
    }
    for (i64 i = 0; i < product.b_matrices; ++i) product.b.push_back(i);
  }

  /// Numbers that are transposed, those of b unless it is packed.
  i64 turned(bool packs_b) const {
    const auto size = [](const std::vector<i64>& order, const std::vector<i64>& of) {
      return is_in_place(order) ? 0 : product_of(of);
    };
    return size(a_order, a_dims) + (packs_b ? 0 : size(b_order, b_dims)) + size(out_order, dims);
  }

 private:
  /// The labels of matrices and of columns. Columns that the output has before the rows count matrices of b as well,
  /// each of which the same matrix of a is multiplied by: then the results lie as the output has them.
  static std::pair<std::string, std::string> matrices_first(const EinsumProduct& p, const Lengths& lengths) {
    const auto place = p.out.find(p.rows);
    if (place == std::string::npos) return {p.matrices, p.columns};
    auto before = p.out.substr(0, place), behind = p.out.substr(place + p.rows.size());
    const bool are_columns = std::ranges::all_of(behind, [&](char label) { return is_in(p.columns, label); });
    if (!are_columns || lengths.count(behind) < kBlock) return {p.matrices, p.columns};
    return {std::move(before), std::move(behind)};
  }
  static bool is_in(std::string_view labels, char label) { return labels.find(label) != std::string_view::npos; }
};

/// The same with the operands in the order in which less is transposed; whether they have changed places. `packed`: b
/// is a constant that may be packed.
std::pair<Pair, bool> pair_of(const std::string& a, const std::string& b, const std::string& out,
                              const Lengths& lengths, bool packed) {
  Pair straight(*einsum_product(a, b, out), lengths);
  const auto turned = straight.turned(packed && reads_panels(straight.product));
  if (turned == 0) return {std::move(straight), false};
  Pair swapped(*einsum_product(b, a, out), lengths);
  return swapped.turned(false) < turned ? std::pair(std::move(swapped), true) : std::pair(std::move(straight), false);
}

/// An operand, or the result of a pair, in that order.
struct Value {
  std::string labels;
  int from;
};

class Einsum final : public Kernel {
 public:
  explicit Einsum(EinsumLabels labels) : labels_(std::move(labels)) {}
  /// Of two operands, of which `constant` is packed; `always`: for all sizes that come.
  Einsum(EinsumLabels labels, int constant, std::shared_ptr<const PackedMatrices> packed, bool always)
      : labels_(std::move(labels)), constant_(constant), packed_(std::move(packed)), always_(always) {}

  std::string name() const override { return "einsum"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    Lengths lengths;
    for (std::size_t i = 0; i < labels_.operands.size(); ++i)
      if (!lengths.take(labels_.operands[i], sizes.in[i].dims)) return nullptr;
    if (!lengths.take(labels_.out, sizes.out[0].dims)) return nullptr;
    auto state = std::make_unique<State>();
    std::vector<Value> values;
    for (const auto& labels : labels_.operands) values.push_back({labels, static_cast<int>(values.size())});
    while (values.size() > 1) {
      // The pair with the least work, the first of several.
      std::size_t first = 0, second = 1;
      for (std::size_t i = 0; i < values.size(); ++i)
        for (auto j = i + 1; j < values.size(); ++j)
          if (lengths.work(values[i].labels, values[j].labels) <
              lengths.work(values[first].labels, values[second].labels))
            first = i, second = j;
      if (constant_ == 0) std::swap(first, second);  // the constant is the right operand
      const auto a = values[first], b = values[second];
      values.erase(values.begin() + static_cast<std::ptrdiff_t>(std::max(first, second)));
      values.erase(values.begin() + static_cast<std::ptrdiff_t>(std::min(first, second)));
      const auto labels = *einsum_product(a.labels, b.labels, values.empty() ? labels_.out : still_read(a, b, values));
      const auto result = values.empty() ? labels.out : labels.matrices + labels.rows + labels.columns;
      if (std::ssize(result) > kMaxEinsumDims) return nullptr;
      auto [chosen, swapped] = pair_of(a.labels, b.labels, result, lengths, packed_ != nullptr);
      auto& pair = state->pairs.emplace_back(std::move(chosen));
      pair.from_a = swapped ? b.from : a.from;
      pair.from_b = swapped ? a.from : b.from;
      state->packed = packed_ && !swapped && reads_panels(pair.product);
      if (!is_in_place(pair.a_order)) pair.a = state->reserve(product_of(pair.a_dims));
      if (state->packed) packed_->pack(pair.product, pair.b_order, runtime.pool());
      else if (!is_in_place(pair.b_order)) pair.b = state->reserve(product_of(pair.b_dims));
      if (!is_in_place(pair.out_order)) pair.out = state->reserve(product_of(pair.dims));
      if (!values.empty()) pair.result = state->reserve(product_of(pair.dims));
      pair.work = state->reserve(state->packed ? packed_matrices_scratch_size(pair.product)
                                               : batched_product_scratch_size(pair.product, runtime.threads()));
      values.push_back({result, static_cast<int>(labels_.operands.size() + state->pairs.size()) - 1});
    }
    return state;
  }

  bool holds(int input) const override { return input == constant_ && always_; }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    const auto operand = [&](int from, const std::vector<i64>& dims, const std::vector<i64>& order,
                             const Scratch& aside) {
      const auto own = from - std::ssize(in);
      const auto* x = own < 0 ? in[static_cast<std::size_t>(from)].as<const float>()
                              : state.floats(state.pairs[static_cast<std::size_t>(own)].result);
      if (!aside) return x;
      auto* to = state.floats(aside);
      permute(dims, order, x, to, pool);
      return static_cast<const float*>(to);
    };
    for (const auto& pair : state.pairs) {
      const auto* a = operand(pair.from_a, pair.a_dims, pair.a_order, pair.a);
      auto* result = pair.result ? state.floats(pair.result) : out[0].as<float>();
      auto *c = pair.out ? state.floats(pair.out) : result, *work = state.floats(pair.work);
      if (state.packed) {
        packed_->multiply(pair.product, a, c, Epilogue{}, work, pool);
      } else {
        const auto* b = operand(pair.from_b, pair.b_dims, pair.b_order, pair.b);
        batched_product(pair.product, a, b, c, Epilogue{}, work, pool);
      }
      if (pair.out) permute(pair.dims, pair.out_order, c, result, pool);
    }
  }

 private:
  struct State final : KernelState {
    std::vector<Pair> pairs;
    bool packed = false;
  };

  /// The labels of two values that the output or other values have, too.
  std::string still_read(const Value& a, const Value& b, const std::vector<Value>& others) const {
    auto all = labels_.out;
    for (const auto& other : others) all += other.labels;
    std::string labels;
    for (const char label : a.labels + b.labels)
      if (all.find(label) != std::string::npos && labels.find(label) == std::string::npos) labels += label;
    return labels;
  }

  EinsumLabels labels_;
  int constant_ = -1;
  std::shared_ptr<const PackedMatrices> packed_;
  bool always_ = false;
};

/// Of two operands as they are known, of which one is a constant, what that is packed for; nothing where one is open,
/// or where it is not read in panels.
std::optional<Pair> packed_pair(const Graphlet& graph, const Match& match, const EinsumLabels& labels, int constant) {
  Lengths lengths;
  if (!PackedMatrices::known(graph.fact({match.nodes[0], 0}).shape)) return std::nullopt;
  for (std::size_t i = 0; i < labels.operands.size(); ++i) {
    const auto shape = PackedMatrices::known(graph.fact(match.inputs[i]).shape);
    if (!shape || !lengths.take(labels.operands[i], *shape)) return std::nullopt;
  }
  auto [pair, swapped] = pair_of(labels.operands[1 - constant], labels.operands[constant], labels.out, lengths, true);
  return swapped || !reads_panels(pair.product) ? std::nullopt : std::optional(std::move(pair));
}

std::optional<Match> match(const Graphlet& graph, int root) {
  auto labels = einsum_labels(graph, root);
  if (!labels || labels->operands.size() < 2 || !multiplies_in_pairs(*labels) ||
      std::ssize(labels->out) > kMaxEinsumDims)
    return std::nullopt;
  Match match{{root}, {}, nullptr};
  for (int i = 0; i < std::ssize(labels->operands); ++i) match.inputs.push_back(graph.input(root, i));
  for (const int port : {1, 0}) {
    const auto* constant = graph.constant(match.inputs[port]);
    if (!constant || !graph.options().steady() || labels->operands.size() != 2) continue;
    auto packed = graph.shared<PackedMatrices>(
        match.inputs[port],
        fmt::format("einsum {} of {},{}->{}", port, labels->operands[0], labels->operands[1], labels->out),
        [&] { return std::make_shared<const PackedMatrices>(*constant); });
    const auto pair = packed_pair(graph, match, *labels, port);
    if (pair) packed->pack(pair->product, pair->b_order, graph.packers(constant->size()));
    match.kernel = std::make_unique<Einsum>(std::move(*labels), port, std::move(packed), pair.has_value());
    return match;
  }
  match.kernel = std::make_unique<Einsum>(std::move(*labels));
  return match;
}

constexpr std::string_view kRoots[] = {"Einsum"};

}  // namespace

extern constinit const Pattern pattern{.name = "einsum", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::einsum
