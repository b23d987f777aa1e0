// Einsum-7 of one f32 operand: its labels in another order, summed over those that the output lacks.
#include <algorithm>

#include "fast/kernels/movement/permute.hpp"
#include "fast/kernels/reduction/reduce.hpp"
#include "fast/kit/einsum_product.hpp"

namespace ovir::fast::patterns::einsum_of_one {
namespace {

class EinsumOfOne final : public Kernel {
 public:
  /// `order`: where the output's axes lie in the operand, then those that are summed.
  EinsumOfOne(std::vector<i64> order, i64 kept) : order_(std::move(order)), kept_(kept) {}

  std::string name() const override { return "einsum"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &in = sizes.in[0], &out = sizes.out[0];
    if (in.rank() != std::ssize(order_) || out.rank() != kept_) return nullptr;
    for (i64 i = 0; i < kept_; ++i)
      if (out.dim(i) != in.dim(order_[i])) return nullptr;
    auto state = std::make_unique<State>();
    auto& sums = state->sums;
    if (const auto first = first_summed(); first >= 0) {
      for (i64 i = 0; i < in.rank(); ++i)
        (i < first ? sums.outer : i < first + summed() ? sums.n : sums.inner) *= in.dim(i);
    } else if (summed() > 0) {
      for (i64 i = 0; i < in.rank(); ++i) (i < kept_ ? sums.outer : sums.n) *= in.dim(order_[i]);
      state->permuted = state->reserve(in.size());
    }
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    const auto* x = in[0].as<const float>();
    auto* y = out[0].as<float>();
    if (summed() == 0) return permute(in[0].dims, order_, x, y, pool);
    if (state.permuted) {
      permute(in[0].dims, order_, x, state.floats(state.permuted), pool);
      x = state.floats(state.permuted);
    }
    reduce(Reduction::sum, x, y, state.sums, pool);
  }

 private:
  struct State final : KernelState {
    Reduced sums;
    Scratch permuted;  ///< where what is summed does not lie side by side, or what is kept in another order
  };

  i64 summed() const { return std::ssize(order_) - kept_; }
  /// The first axis that is summed, where they lie side by side and all others in order; otherwise -1.
  i64 first_summed() const {
    const auto kept = order_.begin() + kept_;
    if (summed() == 0 || !std::is_sorted(order_.begin(), kept) || *(order_.end() - 1) - *kept != summed() - 1)
      return -1;
    return *kept;
  }

  std::vector<i64> order_;
  i64 kept_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto labels = einsum_labels(graph, root);
  if (!labels || labels->operands.size() != 1) return std::nullopt;
  const auto &from = labels->operands[0], &to = labels->out;
  const auto repeats = [](std::string_view text) {
    return std::ranges::any_of(text, [&](char label) { return std::ranges::count(text, label) > 1; });
  };
  if (std::ssize(from) > kMaxEinsumDims || repeats(from) || repeats(to)) return std::nullopt;
  auto order = order_of(from, to);
  for (i64 i = 0; i < std::ssize(from); ++i)
    if (to.find(from[i]) == std::string::npos) order.push_back(i);
  return Match{{root}, {graph.input(root, 0)}, std::make_unique<EinsumOfOne>(std::move(order), std::ssize(to))};
}

constexpr std::string_view kRoots[] = {"Einsum"};

}  // namespace

extern constinit const Pattern pattern{.name = "einsum_of_one", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::einsum_of_one
