// MatMul of two values that are both on levels and computed in the run, in integers, perhaps with the FakeQuantize that
// follows: for Precision::int8. Attention takes its own products before.
#include "fast/kernels/product/batched_u8.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/levels.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::int8_values_matmul {
namespace {

class Int8ValuesMatMul final : public Kernel {
 public:
  Int8ValuesMatMul(const MatMulAttrs& attrs, const Levels& a, const Levels& b, std::optional<RowLevels> out, i64 steps)
      : attrs_(attrs),
        a_(level_line(a)),
        b_(level_line(b)),
        scale_(a.scale(0) * b.scale(0)),
        out_(std::move(out)),
        reads_words_(steps % 4 == 0) {}

  std::string name() const override { return out_ ? "int8.values.matmul+FakeQuantize" : "int8.values.matmul"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &a = sizes.in[0], &b = sizes.in[1], &out = sizes.out[0];
    constexpr i64 kMost = i64{1} << 16;  // products, whose sums fit 32 bits
    auto state = std::make_unique<State>();
    auto& u = state->product;
    u.p = product_of(attrs_, a.dims, b.dims, out.dims);
    if (u.p.a_transposed || u.p.k > kMost) return nullptr;
    u.a = a_;
    u.b = b_;
    u.scale = scale_;
    u.reads_a = a.type == ElementType::u8;
    if (out_) {
      state->levels = out_->scale();
      u.levels = &state->levels;
    }
    state->work = state->reserve(u8_batched_scratch_size(u, runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    U8Rows to;
    if (out[0].type == ElementType::u8) to.levels = out[0].as<std::uint8_t>();
    else to.wide = out[0].as<float>();
    u8_batched_product(state.product, rows_of(in[0]), rows_of(in[1]), to, state.floats(state.work), runtime.pool());
  }

  bool reads_as(int input, ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::plain && (input == 1 || reads_words_);
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::plain && out_;
  }
  std::shared_ptr<const ovir::Quantization> quantization() const override {
    return out_ ? out_->quantization() : nullptr;
  }

 private:
  struct State final : KernelState {
    U8BatchedProduct product;
    U8RowScale levels;
    Scratch work;
  };
  static LevelRows rows_of(const View& v) {
    if (v.type == ElementType::u8) return {.levels = v.as<const std::uint8_t>()};
    return {.wide = v.as<const float>()};
  }

  MatMulAttrs attrs_;
  LevelLine a_, b_;
  float scale_;
  std::optional<RowLevels> out_;
  bool reads_words_;  // rows of the left operand are such
};

std::optional<Match> match(const Graphlet& graph, int root) {
  constexpr i64 kLeastRows = 16, kLeastSteps = 32;  // for fewer the right operand had better not be packed
  const auto a = graph.input(root, 0), b = graph.input(root, 1);
  const auto& attrs = graph.attrs<MatMulAttrs>(root);
  const auto &shape = graph.fact(a).shape, &right = graph.fact(b).shape;
  if (attrs.transpose_a || !is_f32(graph, a) || !is_f32(graph, b) || graph.constant(a) || graph.constant(b) ||
      !shape.has_rank() || shape.rank() < 2 || !right.has_rank() || right.rank() < 2)
    return std::nullopt;
  const auto &rows = shape[shape.rank() - 2], &steps = shape[shape.rank() - 1];
  if ((rows.is_static() && rows.length() < kLeastRows) || !steps.is_static() || steps.length() < kLeastSteps)
    return std::nullopt;
  const auto left_levels = single_levels(graph, a), right_levels = single_levels(graph, b);
  if (!left_levels || !right_levels) return std::nullopt;
  Match match{{root}, {a, b}, nullptr};
  auto nodes = match.nodes;
  auto out = take_row_levels(graph, nodes);
  // What is multiplied by factors before is a step of its own.
  if (out && out->is_scaled()) out.reset();
  else match.nodes = nodes;
  if (!graph.takes(match.nodes)) return std::nullopt;
  match.kernel = std::make_unique<Int8ValuesMatMul>(attrs, *left_levels, *right_levels, std::move(out), steps.length());
  return match;
}

constexpr std::string_view kRoots[] = {"MatMul"};

}  // namespace

extern constinit const Pattern pattern{.name = "int8_values_matmul",
                                       .roots = kRoots,
                                       .match = match,
                                       .priority = Priority::packed,
                                       .precision = Precision::int8};

}  // namespace ovir::fast::patterns::int8_values_matmul
