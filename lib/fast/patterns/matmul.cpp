// MatMul-1 in f32 with what follows it: where no other pattern knows more of the matrices, as when both are computed in
// the run. In plans for many runs several constant matrices are packed.
#include <fmt/format.h>

#include "fast/kernels/product/batched.hpp"
#include "fast/kernels/product/dots.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/packed_matrices.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::matmul {
namespace {

constexpr i64 kFewRows = 4;

class MatMul final : public Kernel {
 public:
  /// `narrow`: the right operand as its constant has it, of fewer bits, which few rows are multiplied by as it is.
  /// `packed`: the same for many rows; `always`: for all that come.
  MatMul(const MatMulAttrs& attrs, Ending ending, Tensor narrow, std::shared_ptr<const PackedMatrices> packed,
         bool always)
      : attrs_(attrs),
        ending_(std::move(ending)),
        narrow_(std::move(narrow)),
        packed_(std::move(packed)),
        always_(always) {
    if (narrow_) wide_ = Tensor::widened(narrow_);
  }

  std::string name() const override { return "matmul" + ending_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &a = sizes.in[0], &b = sizes.in[1], &out = sizes.out[0];
    if (ending_.residual >= 0 && sizes.in[ending_.residual].size() != out.size()) return nullptr;
    auto state = std::make_unique<State>();
    const auto& p = state->product = product_of(attrs_, a.dims, b.dims, out.dims);
    state->packed = packed_ && reads_panels(p) && !reads_narrow(p);
    if (state->packed) packed_->pack(p, {}, runtime.pool());
    state->work = state->reserve(state->packed ? packed_matrices_scratch_size(p)
                                               : batched_product_scratch_size(p, runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto* residual = ending_.residual < 0 ? nullptr : in[ending_.residual].as<const float>();
    const auto epilogue = ending_.epilogue(residual);
    const auto* a = in[0].as<const float>();
    const auto& p = state.product;
    if (state.packed)
      return packed_->multiply(p, a, out[0].as<float>(), epilogue, state.floats(state.work), runtime.pool());
    if (reads_narrow(p)) {
      const auto matrix = p.n * p.k * byte_width(narrow_.type());
      for (i64 i = 0; i < p.count(); ++i)
        product_of_dots(a + p.a[i] * p.m * p.k, NarrowWeights{narrow_.type(), narrow_.bytes() + p.b[i] * matrix},
                        out[0].as<float>() + i * p.m * p.n, p.m, p.n, p.k, epilogue.from(i * p.m * p.n, 0),
                        runtime.pool());
      return;
    }
    const auto* b = narrow_ ? wide_.data<float>() : in[1].as<const float>();
    batched_product(p, a, b, out[0].as<float>(), epilogue, state.floats(state.work), runtime.pool());
  }

  bool holds(int input) const override { return input == 1 && (narrow_ || always_); }

  bool writes_over(int input) const override { return ending_.writes_over(input); }

 private:
  struct State final : KernelState {
    BatchedProduct product;
    Scratch work;
    bool packed = false;
  };
  bool reads_narrow(const BatchedProduct& p) const { return narrow_ && p.m <= kFewRows && !p.a_transposed; }

  MatMulAttrs attrs_;
  Ending ending_;
  Tensor narrow_, wide_;
  std::shared_ptr<const PackedMatrices> packed_;
  bool always_;
};

/// Matrices of f16 or bf16, more than caches hold, whose columns' weights lie side by side.
Tensor narrow_constant(const Graphlet& graph, ValueRef b, bool transposed) {
  constexpr i64 kLarge = 256 << 10;
  const auto* constant = graph.narrow_constant(b);
  if (!graph.options().steady() || !transposed || !constant) return {};
  return constant->rank() > 2 && constant->size() >= kLarge ? *constant : Tensor();
}

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto a = graph.input(root, 0), b = graph.input(root, 1);
  if (!is_f32(graph, a) || !is_f32(graph, b)) return std::nullopt;
  const auto& attrs = graph.attrs<MatMulAttrs>(root);
  Match match{{root}, {a, b}, nullptr};
  Ending ending;
  const auto &shape = graph.fact(b).shape, &out = graph.fact({root, 0}).shape;
  if (shape.has_rank() && shape.rank() >= 2 && out.has_rank() && out.rank() >= 2) {
    const auto& columns = shape[shape.rank() - (attrs.transpose_b ? 2 : 1)];
    if (columns.is_static()) ending = take_ending(graph, match, out.rank(), out.rank() - 1, columns.length());
  }
  auto narrow = narrow_constant(graph, b, attrs.transpose_b);
  std::shared_ptr<const PackedMatrices> packed;
  bool always = false;
  if (const auto* constant = graph.constant(b); constant && graph.options().steady()) {
    packed = graph.shared<PackedMatrices>(b, fmt::format("matrices, {}", attrs.transpose_b),
                                          [&] { return std::make_shared<const PackedMatrices>(*constant); });
    const auto left = PackedMatrices::known(graph.fact(a).shape), result = PackedMatrices::known(out);
    if (left && result) {
      const auto p = product_of(attrs, *left, constant->shape(), *result);
      always = reads_panels(p) && p.m > kFewRows;
      if (always) packed->pack(p, {}, graph.packers(constant->size()));
    }
  }
  match.kernel = std::make_unique<MatMul>(attrs, std::move(ending), std::move(narrow), std::move(packed), always);
  return match;
}

constexpr std::string_view kRoots[] = {"MatMul"};

}  // namespace

extern constinit const Pattern pattern{.name = "matmul", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::matmul
