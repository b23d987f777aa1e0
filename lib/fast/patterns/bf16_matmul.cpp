// MatMul by a constant matrix in bf16, with what follows it: for Precision::bf16.
#include "fast/kernels/product/bf16.hpp"
#include "fast/patterns.hpp"
#include "fast/patterns/functions.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast {
namespace {

class Bf16MatMul final : public Kernel {
 public:
  Bf16MatMul(const float* b, i64 row, i64 column, i64 k, i64 n, Ending ending)
      : panels_(bf16_panels_size(k, n)), k_(k), n_(n), ending_(std::move(ending)) {
    pack_bf16_panels(b, row, column, k, n, words(panels_));
  }

  std::string name() const override { return "bf16.matmul" + ending_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& a = sizes.in[0];
    if (a.rank() < 2 || a.dim(a.rank() - 1) != k_) return nullptr;
    if (ending_.residual >= 0 && sizes.in[static_cast<std::size_t>(ending_.residual)].size() != sizes.out[0].size())
      return nullptr;
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
    const auto residual = ending_.residual < 0 ? Bf16Place{} : place(in[static_cast<std::size_t>(ending_.residual)]);
    product({words(panels_), k_, n_}, a, place(out[0]), m, ending_.epilogue(nullptr), residual, pool);
  }

  bool writes_over(int input) const override { return ending_.residual >= 0 && input == ending_.residual; }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::plain && (input != 0 || k_ % 2 == 0);
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
  const auto a = graph.input(root, 0), b = graph.input(root, 1);
  const auto& attrs = graph.attrs<MatMulAttrs>(root);
  const auto* matrix = graph.constant(b);
  const auto& shape = graph.fact(a).shape;
  if (!is_f32(graph, a) || attrs.transpose_a || !matrix || !shape.has_rank() || matrix->type() != ElementType::f32 ||
      matrix->rank() < 2 || shape.rank() < matrix->rank())
    return std::nullopt;
  const auto rank = matrix->rank(), last = matrix->dim(rank - 1), before = matrix->dim(rank - 2);
  if (matrix->size() == 0 || matrix->size() != last * before) return std::nullopt;
  const auto k = attrs.transpose_b ? last : before, n = attrs.transpose_b ? before : last;
  Match match{{root}, {a}, nullptr};
  auto ending = take_ending(graph, match, shape.rank(), shape.rank() - 1, n);
  match.kernel = std::make_unique<Bf16MatMul>(matrix->data<float>(), attrs.transpose_b ? 1 : n,
                                              attrs.transpose_b ? k : 1, k, n, std::move(ending));
  return match;
}

constexpr std::string_view kRoots[] = {"MatMul"};

}  // namespace

constinit const Pattern kBf16MatMul{"bf16_matmul", kRoots, match};

}  // namespace ovir::fast
