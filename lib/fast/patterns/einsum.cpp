// Einsum-7 of two f32 operands as products of matrices (kit/einsum_product). What lies in another order is transposed
// before and after.
#include <algorithm>
#include <map>

#include "fast/kernels/movement/permute.hpp"
#include "fast/kernels/product/batched.hpp"
#include "fast/kit/einsum_product.hpp"

namespace ovir::fast::patterns::einsum {
namespace {

/// Where the labels of `to` lie in `from`.
std::vector<i64> order_of(std::string_view from, std::string_view to) {
  std::vector<i64> order;
  for (const char label : to) order.push_back(static_cast<i64>(from.find(label)));
  return order;
}

class Einsum final : public Kernel {
 public:
  explicit Einsum(EinsumProduct labels) : labels_(std::move(labels)) {
    const auto& [a, b, output, matrices, rows, columns, sums] = labels_;
    a_transposed_ = a == matrices + sums + rows && a != matrices + rows + sums;
    b_transposed_ = b != matrices + sums + columns;
    a_order_ = order_of(a, a_transposed_ ? a : matrices + rows + sums);
    b_order_ = order_of(b, b_transposed_ ? matrices + columns + sums : b);
    out_order_ = order_of(matrices + rows + columns, output);
  }

  std::string name() const override { return "einsum"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    auto state = std::make_unique<State>();
    std::map<char, i64> lengths;
    const auto take = [&](std::string_view labels, const View& v) {
      if (v.rank() != std::ssize(labels)) return false;
      for (i64 i = 0; i < v.rank(); ++i)
        if (lengths.emplace(labels[i], v.dim(i)).first->second != v.dim(i)) return false;  // a length of 1 is repeated
      return true;
    };
    if (!take(labels_.a, sizes.in[0]) || !take(labels_.b, sizes.in[1]) || !take(labels_.out, sizes.out[0]))
      return nullptr;
    const auto count = [&](std::string_view labels) {
      i64 n = 1;
      for (const char label : labels) n *= lengths.at(label);
      return n;
    };
    auto& p = state->product;
    p.m = count(labels_.rows);
    p.n = count(labels_.columns);
    p.k = count(labels_.sums);
    // A matrix of one row or column is the same either way.
    p.a_transposed = a_transposed_ && p.m > 1 && p.k > 1;
    p.b_transposed = b_transposed_ || p.n == 1;
    p.a_matrices = p.b_matrices = count(labels_.matrices);
    for (i64 i = 0; i < p.a_matrices; ++i) {
      p.a.push_back(i);
      p.b.push_back(i);
    }
    for (const char label : labels_.matrices + labels_.rows + labels_.columns) state->dims.push_back(lengths.at(label));
    if (!is_in_place(a_order_)) state->a = state->reserve(sizes.in[0].size());
    if (!is_in_place(b_order_)) state->b = state->reserve(sizes.in[1].size());
    if (!is_in_place(out_order_)) state->out = state->reserve(sizes.out[0].size());
    state->work = state->reserve(batched_product_scratch_size(p, runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    const auto operand = [&](const View& x, const std::vector<i64>& order, const Scratch& aside) {
      if (!aside) return x.as<const float>();
      auto* to = state.floats(aside);
      permute(x.dims, order, x.as<const float>(), to, pool);
      return static_cast<const float*>(to);
    };
    const auto *a = operand(in[0], a_order_, state.a), *b = operand(in[1], b_order_, state.b);
    auto* c = state.out ? state.floats(state.out) : out[0].as<float>();
    batched_product(state.product, a, b, c, Epilogue{}, state.floats(state.work), pool);
    if (state.out) permute(state.dims, out_order_, c, out[0].as<float>(), pool);
  }

 private:
  struct State final : KernelState {
    BatchedProduct product;
    std::vector<i64> dims;  // of the product
    Scratch a, b, out, work;
  };

  static bool is_in_place(const std::vector<i64>& order) { return std::is_sorted(order.begin(), order.end()); }

  EinsumProduct labels_;
  bool a_transposed_, b_transposed_;
  std::vector<i64> a_order_, b_order_, out_order_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  auto labels = einsum_product(graph, root);
  if (!labels || std::ssize(labels->out) > kMaxEinsumDims) return std::nullopt;
  return Match{{root}, {graph.input(root, 0), graph.input(root, 1)}, std::make_unique<Einsum>(std::move(*labels))};
}

constexpr std::string_view kRoots[] = {"Einsum"};

}  // namespace

extern constinit const Pattern pattern{.name = "einsum", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::einsum
