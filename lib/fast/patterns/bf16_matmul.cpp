// MatMul by a constant matrix in bf16, with what follows it: for Precision::bf16.
#include "fast/kernels/product/bf16.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::bf16_matmul {
namespace {

class Bf16MatMul final : public Kernel {
 public:
  Bf16MatMul(const ConstantMatrix& b, Ending ending)
      : panels_(bf16_panels_size(b.k, b.n)), k_(b.k), n_(b.n), ending_(std::move(ending)) {
    pack_bf16_panels(b.data, b.row, b.column, k_, n_, words(panels_));
  }

  std::string name() const override { return "bf16.matmul" + ending_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& a = sizes.in[0];
    if (a.rank() < 2 || a.dim(a.rank() - 1) != k_) return nullptr;
    if (ending_.residual >= 0 && sizes.in[ending_.residual].size() != sizes.out[0].size()) return nullptr;
    auto state = std::make_unique<State>();
    if (a.type == ElementType::f32 && k_ > 0) state->rounded = state->reserve(a.size() / k_ * bf16_words(k_));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    if (out[0].size() == 0) return;
    const auto m = out[0].size() / n_;
    auto& pool = runtime.pool();
    const auto* a = reinterpret_cast<const Word*>(in[0].data);
    if (in[0].type == ElementType::f32) {
      auto& state = static_cast<State&>(prepared);
      auto* rounded = reinterpret_cast<Word*>(state.floats(state.rounded));
      rows_to_bf16(in[0].as<const float>(), k_, k_, m, rounded, pool);
      a = rounded;
    }
    const auto residual = ending_.residual < 0 ? Bf16Place{} : place(in[ending_.residual]);
    product({words(panels_), k_, n_}, a, place(out[0]), m, ending_.epilogue(nullptr), residual, pool);
  }

  bool writes_over(int input) const override { return ending_.residual >= 0 && input == ending_.residual; }
  /// What is added stays f32: it goes through all layers of an encoder.
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::plain && input == 0 && k_ % 2 == 0;
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::plain;
  }

 private:
  struct State final : KernelState {
    Scratch rounded;
  };

  Bf16Place place(const View& v) const {
    if (v.type == ElementType::f32) return {.wide = reinterpret_cast<float*>(v.data), .pixel = n_};
    return {.narrow = reinterpret_cast<std::uint16_t*>(v.data), .pixel = n_};
  }

  Buffer panels_;
  i64 k_, n_;
  Ending ending_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto b = constant_matrix(graph, root);
  if (!b) return std::nullopt;
  const auto a = graph.input(root, 0);
  const auto rank = graph.fact(a).shape.rank();
  Match match{{root}, {a}, nullptr};
  match.kernel = std::make_unique<Bf16MatMul>(*b, take_ending(graph, match, rank, rank - 1, b->n));
  return match;
}

constexpr std::string_view kRoots[] = {"MatMul"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "bf16_matmul", .roots = kRoots, .match = match, .priority = Priority::narrow, .precision = Precision::bf16};

}  // namespace ovir::fast::patterns::bf16_matmul
