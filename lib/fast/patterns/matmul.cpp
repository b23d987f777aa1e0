// MatMul-1 in f32 with what follows it: where no other pattern knows more of the matrices, as when both are computed in
// the run. In plans for many runs several constant matrices are packed.
#include "fast/kit/float_matrices.hpp"
#include "fast/kit/functions.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::matmul {
namespace {

class MatMul final : public Kernel {
 public:
  MatMul(const MatMulAttrs& attrs, Ending ending, FloatMatrices right)
      : attrs_(attrs), ending_(std::move(ending)), right_(std::move(right)) {}

  std::string name() const override { return "matmul" + ending_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &a = sizes.in[0], &b = sizes.in[1], &out = sizes.out[0];
    if (ending_.residual >= 0 && sizes.in[ending_.residual].size() != out.size()) return nullptr;
    auto state = std::make_unique<State>();
    const auto& p = state->product = product_of(attrs_, a.dims, b.dims, out.dims);
    right_.prepare(p, runtime.pool());
    state->work = state->reserve(right_.scratch_size(p, runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto* residual = ending_.residual < 0 ? nullptr : in[ending_.residual].as<const float>();
    right_.multiply(state.product, in[0].as<const float>(), in[1].as<const float>(), out[0].as<float>(),
                    ending_.epilogue(residual), state.floats(state.work), runtime.pool());
  }

  bool holds(int input) const override { return input == 1 && right_.are_held(); }

  bool writes_over(int input) const override { return ending_.writes_over(input); }

 private:
  struct State final : KernelState {
    BatchedProduct product;
    Scratch work;
  };

  MatMulAttrs attrs_;
  Ending ending_;
  FloatMatrices right_;
};

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
  if (!graph.takes(match.nodes)) return std::nullopt;
  match.kernel = std::make_unique<MatMul>(attrs, std::move(ending), FloatMatrices(graph, root));
  return match;
}

constexpr std::string_view kRoots[] = {"MatMul"};

}  // namespace

extern constinit const Pattern pattern{.name = "matmul", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::matmul
