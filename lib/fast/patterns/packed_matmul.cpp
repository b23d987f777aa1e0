// MatMul by a constant matrix, packed when the plan is made, with what follows it: for plans that run often.
#include "fast/kernels/product/packed.hpp"
#include "fast/patterns.hpp"
#include "fast/patterns/functions.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast {
namespace {

class PackedMatMul final : public Kernel {
 public:
  PackedMatMul(const float* b, i64 row, i64 column, i64 k, i64 n, Ending ending)
      : panels_(panels_size(k, n)), k_(k), n_(n), ending_(std::move(ending)) {
    pack_panels(b, row, column, k, n, 0, (n + kColumns - 1) / kColumns, panels_.data());
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
  const auto a = graph.input(root, 0), b = graph.input(root, 1);
  const auto& attrs = graph.attrs<MatMulAttrs>(root);
  const auto* matrix = graph.constant(b);
  const auto& shape = graph.fact(a).shape;
  if (!graph.options().steady() || !is_f32(graph, a) || attrs.transpose_a || !matrix || !shape.has_rank() ||
      matrix->type() != ElementType::f32 || matrix->rank() < 2 || shape.rank() < matrix->rank() || shape.rank() < 2)
    return std::nullopt;
  const auto rank = matrix->rank(), last = matrix->dim(rank - 1), before = matrix->dim(rank - 2);
  if (matrix->size() == 0 || matrix->size() != last * before) return std::nullopt;
  const auto k = attrs.transpose_b ? last : before, n = attrs.transpose_b ? before : last;
  Match match{{root}, {a}, nullptr};
  auto ending = take_ending(graph, match, shape.rank(), shape.rank() - 1, n);
  match.kernel = std::make_unique<PackedMatMul>(matrix->data<float>(), attrs.transpose_b ? 1 : n,
                                                attrs.transpose_b ? k : 1, k, n, std::move(ending));
  return match;
}

constexpr std::string_view kRoots[] = {"MatMul"};

}  // namespace

constinit const Pattern kPackedMatMul{"packed_matmul", kRoots, match};

}  // namespace ovir::fast
