// MatMul by a constant matrix in f32, each number as the sum of three bf16, with what follows it: for plans that run
// often, of many rows, where the tiles of AMX multiply that faster than AVX-512 multiplies f32.
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/product/bf16x3.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::bf16x3_matmul {
namespace {

class Bf16x3MatMul final : public Kernel {
 public:
  Bf16x3MatMul(const ConstantMatrix& b, Ending ending)
      : panels_(bf16x3_panels_size(b.k, b.n)), k_(b.k), n_(b.n), ending_(std::move(ending)) {
    pack_bf16x3_panels(b.data, b.row, b.column, k_, n_, words(panels_));
  }

  std::string name() const override { return "bf16x3.matmul" + ending_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& a = sizes.in[0];
    if (a.rank() < 2 || a.dim(a.rank() - 1) != k_) return nullptr;
    if (ending_.residual >= 0 && sizes.in[ending_.residual].size() != sizes.out[0].size()) return nullptr;
    auto state = std::make_unique<State>();
    if (!by_rows()) state->parts = state->reserve(bf16x3_scratch_size(a.size() / k_, k_));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto m = out[0].size() / n_;
    auto& pool = runtime.pool();
    if (by_rows()) {
      constexpr i64 kRows = 32;
      const auto blocks = ceil_div(m, kRows);
      const auto cost = static_cast<double>(m * k_ * n_) / static_cast<double>(150 * blocks);  // ns, roughly
      return parallel_ranges(pool, blocks, cost,
                             [&](i64 begin, i64 end) { run_rows(in, out, begin * kRows, std::min(m, end * kRows)); });
    }
    auto& state = static_cast<State&>(prepared);
    product(panels(), in[0].as<const float>(), out[0].as<float>(), m, ending_.epilogue(residual(in)),
            reinterpret_cast<Word*>(state.floats(state.parts)), pool);
  }

  i64 rows(const Sizes& sizes) const override { return by_rows() ? sizes.out[0].size() / n_ : 0; }
  void run_rows(std::span<const View> in, std::span<const View> out, i64 begin, i64 end) const override {
    const auto* plus = residual(in);
    product_alone(panels(), in[0].as<const float>() + begin * k_, out[0].as<float>() + begin * n_, end - begin,
                  ending_.epilogue(plus ? plus + begin * n_ : nullptr));
  }

  bool writes_over(int input) const override { return ending_.writes_over(input); }

 private:
  struct State final : KernelState {
    Scratch parts;
  };

  /// Weights that several threads had better share out are not for single rows.
  bool by_rows() const {
    constexpr i64 kSmall = 64 << 10;
    return k_ * n_ <= kSmall && k_ <= kMostInThree;
  }
  Bf16x3Panels panels() const { return {words(panels_), k_, n_}; }
  const float* residual(std::span<const View> in) const {
    return ending_.residual < 0 ? nullptr : in[ending_.residual].as<const float>();
  }

  Buffer panels_;
  i64 k_, n_;
  Ending ending_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto b = constant_matrix(graph, root);
  if (!b || b->n == 0) return std::nullopt;
  const auto a = graph.input(root, 0);
  const auto& shape = graph.fact(a).shape;
  if (!shape.is_static()) return std::nullopt;
  const auto rows = shape.to_shape().count() / std::max<i64>(b->k, 1);
  if (!bf16x3_pays(rows, b->k)) return std::nullopt;
  Match match{{root}, {a}, nullptr};
  match.kernel = std::make_unique<Bf16x3MatMul>(*b, take_ending(graph, match, shape.rank(), shape.rank() - 1, b->n));
  return match;
}

bool has_bf16x3() { return narrow_isa().to_bf16x3 != nullptr; }

constexpr std::string_view kRoots[] = {"MatMul"};

}  // namespace

extern constinit const Pattern pattern{.name = "bf16x3_matmul",
                                       .roots = kRoots,
                                       .match = match,
                                       .priority = Priority::narrow,
                                       .steady_only = true,
                                       .suits_machine = has_bf16x3};

}  // namespace ovir::fast::patterns::bf16x3_matmul
