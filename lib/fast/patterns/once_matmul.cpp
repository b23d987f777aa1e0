// MatMul by a matrix of [n, k], with what follows it, in a single run: a constant one is read from the weights file
// part by part, each right before it is multiplied.
#include "fast/kernels/product/once.hpp"
#include "fast/kit/functions.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::once_matmul {
namespace {

class OnceMatMul final : public Kernel {
 public:
  /// `file`: of the matrix; may be empty.
  OnceMatMul(WeightsFile file, i64 n, i64 k, Ending ending)
      : file_(std::move(file)), n_(n), k_(k), ending_(std::move(ending)) {}

  std::string name() const override { return "once.matmul" + ending_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto& a = sizes.in[0];
    if (a.rank() < 2 || a.dim(a.rank() - 1) != k_) return nullptr;
    if (ending_.residual >= 0 && sizes.in[ending_.residual].size() != sizes.out[0].size()) return nullptr;
    auto state = std::make_unique<State>();
    state->work = state->reserve(product_once_scratch_size(sizes.out[0].size() / n_, n_, k_, runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto* residual = ending_.residual < 0 ? nullptr : in[ending_.residual].as<const float>();
    const auto b = file_ ? Weights(file_, nullptr) : Weights(in[1].as<const float>());
    product_once(b, in[0].as<const float>(), out[0].as<float>(), out[0].size() / n_, n_, k_, ending_.epilogue(residual),
                 state.floats(state.work), runtime.pool());
  }

  bool holds(int input) const override { return input == 1 && file_; }
  bool writes_over(int input) const override { return ending_.writes_over(input); }

 private:
  struct State final : KernelState {
    Scratch work;
  };
  WeightsFile file_;
  i64 n_, k_;
  Ending ending_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto a = graph.input(root, 0), b = graph.input(root, 1);
  const auto& attrs = graph.attrs<MatMulAttrs>(root);
  const auto &left = graph.fact(a).shape, &matrix = graph.fact(b).shape;
  if (graph.options().steady() || attrs.transpose_a || !attrs.transpose_b || !is_f32(graph, a) || !is_f32(graph, b) ||
      !left.has_rank() || left.rank() < 2 || !matrix.is_static() || matrix.rank() != 2)
    return std::nullopt;
  const auto n = matrix[0].length(), k = matrix[1].length();
  if (n == 0 || k == 0 || k > kMaxPanelRead / kColumns) return std::nullopt;
  Match match{{root}, {a, b}, nullptr};
  auto ending = take_ending(graph, match, left.rank(), left.rank() - 1, n);
  match.kernel = std::make_unique<OnceMatMul>(file_of(graph, b), n, k, std::move(ending));
  return match;
}

constexpr std::string_view kRoots[] = {"MatMul"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "once_matmul", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::once_matmul
