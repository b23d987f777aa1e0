// MatMul by a constant matrix in bf16, with what follows it: for Precision::bf16.
#include <fmt/format.h>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/product/bf16.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::bf16_matmul {
namespace {

class Bf16MatMul final : public Kernel {
 public:
  /// `once`: the plan runs once, and weights are rather packed as it does, from what the file has of them.
  Bf16MatMul(const Graphlet& graph, ValueRef matrix, const ConstantMatrix& b, Ending ending, bool once)
      : k_(b.k), n_(b.n), row_(b.row), column_(b.column), late_(once && !by_rows()), ending_(std::move(ending)) {
    if (late_) {
      source_ = StoredWeights(b.tensor, is_turned() ? file_of(graph, matrix) : WeightsFile());
      return;
    }
    panels_ = graph.shared<Buffer>(matrix, fmt::format("bf16 matrix {} {} {} {}", k_, n_, row_, column_), [&] {
      auto& pool = graph.packers(k_ * n_);
      auto panels = std::make_shared<Buffer>(bf16_panels_size(k_, n_), pool);
      const auto matrix = b.apart();
      parallel_panels(pool, k_, n_, [&, from = matrix.data()](i64 first, i64 columns) {
        pack_bf16_panels(from + first * column_, row_, column_, k_, columns,
                         words(*panels) + bf16_panels_size(k_, first));
      });
      return panels;
    });
  }

  std::string name() const override { return "bf16.matmul" + ending_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto& a = sizes.in[0];
    if (a.rank() < 2 || a.dim(a.rank() - 1) != k_) return nullptr;
    if (ending_.residual >= 0 && sizes.in[ending_.residual].size() != sizes.out[0].size()) return nullptr;
    auto state = std::make_unique<State>();
    if (a.type == ElementType::f32 && k_ > 0 && !by_rows())
      state->rounded = state->reserve(a.size() / k_ * bf16_words(k_));
    if (late_) state->panels = state->reserve(once().scratch_size(runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto m = out[0].size() / n_;
    auto& pool = runtime.pool();
    if (by_rows()) {
      const auto blocks = ceil_div(m, i64{narrow_isa().pixels});
      const auto cost = static_cast<double>(m * k_ * n_) / static_cast<double>(80 * blocks);  // ns, roughly
      return parallel_ranges(pool, blocks, cost, [&](i64 begin, i64 end) {
        run_rows(in, out, Part(m, blocks, begin).begin, Part(m, blocks, end - 1).end);
      });
    }
    const auto* a = reinterpret_cast<const Word*>(in[0].data);
    if (in[0].type == ElementType::f32) {
      auto& state = static_cast<State&>(prepared);
      auto* rounded = reinterpret_cast<Word*>(state.floats(state.rounded));
      rows_to_bf16(in[0].as<const float>(), k_, k_, m, rounded, pool);
      a = rounded;
    }
    const auto multiply = [&](const WordPanels& panels) {
      product(panels, k_, n_, a, place(out[0], 0), m, ending_.epilogue(nullptr), residual(in, 0), pool);
    };
    if (!late_) return multiply(words(*panels_));
    const auto make = [&](i64 panel, Word* read, Word* to) {
      const auto first = panel * kColumns, count = std::min(kColumns, n_ - first);
      const auto* columns =
          is_turned() ? source_.get(first * k_, count * k_, reinterpret_cast<float*>(read)) : source_.data() + first;
      pack_bf16_panels(columns, row_, column_, k_, count, to);
    };
    auto& state = static_cast<State&>(prepared);
    once().run(reinterpret_cast<Word*>(state.floats(state.panels)), pool, make, multiply);
  }

  i64 rows(const Sizes& sizes) const override { return by_rows() ? sizes.out[0].size() / n_ : 0; }
  void run_rows(std::span<const View> in, std::span<const View> out, i64 begin, i64 end) const override {
    const Bf16Panels panels{words(*panels_), k_, n_};
    const auto to = place(out[0], begin), plus = residual(in, begin);
    const auto e = ending_.epilogue(nullptr);
    if (in[0].type == ElementType::f32)
      return product_of_rows(panels, in[0].as<const float>() + begin * k_, to, end - begin, e, plus);
    const auto* a = reinterpret_cast<const Word*>(in[0].data) + begin * bf16_words(k_);
    product_of_rows(panels, a, to, end - begin, e, plus);
  }

  bool writes_over(int input) const override { return ending_.writes_over(input); }
  /// What is added stays f32: it goes through all layers of an encoder.
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::plain && input == 0 && k_ % 2 == 0;
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::bf16 && layout == Layout::plain;
  }

 private:
  struct State final : KernelState {
    Scratch rounded, panels;
  };

  /// Whether a column's weights lie side by side.
  bool is_turned() const { return row_ == 1; }
  OncePanels once() const {
    const auto count = ceil_div(n_, kColumns);
    return {.count = count,
            .words = bf16_panels_size(k_, kColumns),
            .read_words = source_.is_read() ? kColumns * k_ : 0,
            .by_panels = count >= kOncePanels};
  }

  /// Weights that several threads had better share out are not for single rows.
  bool by_rows() const {
    constexpr i64 kSmall = 64 << 10;
    return n_ > 0 && k_ * n_ <= kSmall && k_ <= kMostRounded;
  }
  Bf16Place place(const View& v, i64 row) const {
    if (v.type == ElementType::f32) return {.wide = reinterpret_cast<float*>(v.data) + row * n_, .pixel = n_};
    return {.narrow = reinterpret_cast<std::uint16_t*>(v.data) + row * n_, .pixel = n_};
  }
  Bf16Place residual(std::span<const View> in, i64 row) const {
    return ending_.residual < 0 ? Bf16Place{} : place(in[ending_.residual], row);
  }

  std::shared_ptr<const Buffer> panels_;
  i64 k_, n_, row_, column_;
  bool late_;
  Ending ending_;
  StoredWeights source_;  ///< of weights that each run packs
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto b = constant_matrix(graph, root);
  if (!b) return std::nullopt;
  const auto a = graph.input(root, 0);
  const auto rank = graph.fact(a).shape.rank();
  Match match{{root}, {a}, nullptr};
  auto ending = take_ending(graph, match, rank, rank - 1, b->n);
  if (!graph.takes(match.nodes)) return std::nullopt;
  match.kernel =
      std::make_unique<Bf16MatMul>(graph, graph.input(root, 1), *b, std::move(ending), !graph.options().steady());
  return match;
}

constexpr std::string_view kRoots[] = {"MatMul"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "bf16_matmul", .roots = kRoots, .match = match, .priority = Priority::narrow, .precision = Precision::bf16};

}  // namespace ovir::fast::patterns::bf16_matmul
