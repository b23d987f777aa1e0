// MatMul by a constant matrix, packed when the plan is made, with what follows it: for plans that run often.
#include "fast/kernels/product/packed.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::packed_matmul {
namespace {

class PackedMatMul final : public Kernel {
 public:
  PackedMatMul(const ConstantMatrix& b, Ending ending)
      : panels_(panels_size(b.k, b.n)), k_(b.k), n_(b.n), ending_(std::move(ending)) {
    pack_panels(b.data, b.row, b.column, k_, n_, 0, (n_ + kColumns - 1) / kColumns, panels_.data());
  }

  std::string name() const override { return "packed.matmul" + ending_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& a = sizes.in[0];
    if (a.rank() < 2 || a.dim(a.rank() - 1) != k_) return nullptr;
    if (ending_.residual >= 0 && sizes.in[static_cast<std::size_t>(ending_.residual)].size() != sizes.out[0].size())
      return nullptr;
    return std::make_unique<KernelState>();
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    if (out[0].size() == 0) return;
    const auto* residual =
        ending_.residual < 0 ? nullptr : in[static_cast<std::size_t>(ending_.residual)].as<const float>();
    product({panels_.data(), k_, n_}, in[0].as<const float>(), k_, out[0].as<float>(), n_, out[0].size() / n_,
            ending_.epilogue(residual), runtime.pool());
  }

  bool writes_over(int input) const override { return ending_.writes_over(input); }

 private:
  Buffer panels_;
  i64 k_, n_;
  Ending ending_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  if (!graph.options().steady()) return std::nullopt;
  const auto b = constant_matrix(graph, root);
  if (!b) return std::nullopt;
  const auto a = graph.input(root, 0);
  const auto rank = graph.fact(a).shape.rank();
  Match match{{root}, {a}, nullptr};
  match.kernel = std::make_unique<PackedMatMul>(*b, take_ending(graph, match, rank, rank - 1, b->n));
  return match;
}

constexpr std::string_view kRoots[] = {"MatMul"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "packed_matmul", .roots = kRoots, .match = match, .priority = Priority::packed, .steady_only = true};

}  // namespace ovir::fast::patterns::packed_matmul
