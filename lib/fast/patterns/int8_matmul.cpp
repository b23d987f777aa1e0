// MatMul of quantized values by a constant matrix of quantized weights in integers, with what follows it, also the
// FakeQuantize: for Precision::int8.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/pair_excess.hpp"
#include "fast/kernels/product/u8.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/levels.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::int8_matmul {
namespace {

constexpr i64 kMostQuantized = 1024;  // of a row whose levels come as it is multiplied

/// The matrix of a MatMul, by its fact: it may be computed from integers.
struct Sides {
  i64 k, n;
  bool transposed;
  i64 rows;  ///< by which it is multiplied; 0: any number
};
std::optional<Sides> sides_of(const Graphlet& graph, int root) {
  const auto& attrs = graph.attrs<MatMulAttrs>(root);
  const auto &a = graph.fact(graph.input(root, 0)).shape, &b = graph.fact(graph.input(root, 1)).shape;
  if (attrs.transpose_a || !a.has_rank() || !b.is_static() || b.rank() < 2 || a.rank() < b.rank() ||
      !is_f32(graph, graph.input(root, 0)))
    return std::nullopt;
  const auto shape = b.to_shape();
  const auto last = shape[shape.size() - 1], before = shape[shape.size() - 2];
  if (shape.count() == 0 || shape.count() != last * before) return std::nullopt;
  const auto rows = a.is_static() ? a.to_shape().count() / std::max<i64>(attrs.transpose_b ? last : before, 1) : 0;
  return attrs.transpose_b ? Sides{last, before, true, rows} : Sides{before, last, false, rows};
}

struct Operands {
  Sides sides;
  Levels in;
  I8Weights weights;

  static std::optional<Operands> of(const Graphlet& graph, int root, decltype(i8_weights) weights_of) {
    const auto sides = sides_of(graph, root);
    if (!sides) return std::nullopt;
    auto in = levels_of(graph, graph.input(root, 0));
    if (!in || !in->is_single()) return std::nullopt;
    auto weights = weights_of(graph, root, 1, Outputs{sides->n, !sides->transposed});
    if (!weights) return std::nullopt;
    return Operands{*sides, *std::move(in), *std::move(weights)};
  }
};

class Int8MatMul final : public Kernel {
 public:
  /// `once`: the plan runs once, and weights are rather packed as it does.
  Int8MatMul(const Graphlet& graph, const Operands& operands, RowLevels in, Ending ending, std::optional<RowLevels> out,
             bool once)
      : lines_(6 * round_up(operands.sides.n, kColumns)),
        k_(operands.sides.k),
        n_(operands.sides.n),
        transposed_(operands.sides.transposed),
        late_(once && !by_rows()),
        ending_(std::move(ending)),
        in_(std::move(in)),
        out_(std::move(out)) {
    set_lines(operands);
    if (late_) {
      source_ = I8Source(operands.weights.values);
      packed_ = std::make_shared<const PackedU8>(PackedU8{{}, none()});
      return;
    }
    const auto name = fmt::format("u8 matrix {} {} {} {} {} {}", k_, n_, transposed_, once, in_.pairs_fit(),
                                  PairExcesses::by_column(operands.sides.rows));
    packed_ = graph.shared<PackedU8>(operands.weights.given, name, [&] {
      return std::make_shared<const PackedU8>(
          packed(operands.weights, once, operands.sides.rows, graph.packers(k_ * n_)));
    });
  }

  std::string name() const override {
    return "int8.matmul" + ending_.name + (out_ ? (out_->is_scaled() ? "+scale+FakeQuantize" : "+FakeQuantize") : "");
  }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto& a = sizes.in[0];
    if (a.rank() < 2 || a.dim(a.rank() - 1) != k_) return nullptr;
    if (ending_.residual >= 0 && sizes.in[ending_.residual].size() != sizes.out[0].size()) return nullptr;
    auto state = std::make_unique<State>();
    if (a.type == ElementType::f32 && !by_rows()) state->levels = state->reserve(a.size() / k_ * u8_words(k_));
    if (late_) state->panels = state->reserve(2 * line_size() + once().scratch_size(runtime.threads()));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    const auto m = out[0].size() / n_;
    auto& pool = runtime.pool();
    if (by_rows()) {
      const auto blocks = ceil_div(m, i64{narrow_isa().pixels});
      const auto cost = static_cast<double>(m * k_ * n_) / static_cast<double>(250 * blocks);  // ns, roughly
      return parallel_ranges(pool, blocks, cost, [&](i64 begin, i64 end) {
        run_rows(in, out, Part(m, blocks, begin).begin, Part(m, blocks, end - 1).end);
      });
    }
    const auto* a = reinterpret_cast<const Word*>(in[0].data);
    if (in[0].type == ElementType::f32) {
      auto& state = static_cast<State&>(prepared);
      auto* levels = reinterpret_cast<std::uint8_t*>(state.floats(state.levels));
      const auto apart = 4 * u8_words(k_);
      parallel_ranges(pool, m, static_cast<double>(k_) / 8, [&](i64 begin, i64 end) {
        rows_to_u8(in[0].as<const float>() + begin * k_, in_.scale(), k_, end - begin, levels + begin * apart, apart);
      });
      a = reinterpret_cast<const Word*>(levels);
    }
    const auto levels = out_ ? out_->scale() : U8RowScale{};
    auto b = product(out_ ? &levels : nullptr);
    const auto multiply = [&](const WordPanels& panels) {
      b.panels = panels;
      fast::product(b, a, place(out[0], 0), m, residual(in, 0), pool);
    };
    if (!late_) return multiply(b.panels);
    auto& state = static_cast<State&>(prepared);
    auto *shift = state.floats(state.panels), *level_shift = shift + line_size();
    b.shift = shift;
    b.level_shift = level_shift;
    const auto make = [&](i64 panel, Word* read, Word* to) { make_panel(panel, read, to, shift, level_shift); };
    once().run(reinterpret_cast<Word*>(level_shift + line_size()), pool, make, multiply);
  }

  i64 rows(const Sizes& sizes) const override { return by_rows() ? sizes.out[0].size() / n_ : 0; }
  void run_rows(std::span<const View> in, std::span<const View> out, i64 begin, i64 end) const override {
    const auto levels = out_ ? out_->scale() : U8RowScale{};
    const auto b = product(out_ ? &levels : nullptr);
    const auto words = u8_words(k_);
    if (in[0].type != ElementType::f32)
      return product_of_rows(b, reinterpret_cast<const Word*>(in[0].data) + begin * words, place(out[0], begin),
                             end - begin, residual(in, begin));
    alignas(64) std::array<Word, kMostPixels * kMostQuantized / 4> rows;
    for (auto i = begin; i < end; i += kMostPixels) {
      const auto now = std::min<i64>(kMostPixels, end - i);
      rows_to_u8(in[0].as<const float>() + i * k_, in_.scale(), k_, now, reinterpret_cast<std::uint8_t*>(rows.data()),
                 4 * words);
      product_of_rows(b, rows.data(), place(out[0], i), now, residual(in, i));
    }
  }

  /// A tile of the residual is read before that of the output is written.
  bool writes_over(int input) const override { return ending_.residual >= 0 && input == ending_.residual; }
  bool reads_as(int input, ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::plain && input == 0 && k_ % 4 == 0;
  }
  bool writes_as(ElementType type, Layout layout) const override {
    return type == ElementType::u8 && layout == Layout::plain && out_;
  }
  std::shared_ptr<const ovir::Quantization> quantization() const override {
    return out_ ? out_->quantization() : nullptr;
  }

 private:
  struct State final : KernelState {
    Scratch levels, panels;
  };

  /// Weights that several threads had better share out are not for single rows.
  bool by_rows() const {
    constexpr i64 kSmall = 128 << 10;
    return k_ * n_ <= kSmall && k_ <= kMostQuantized;
  }

  i64 row() const { return transposed_ ? 1 : n_; }
  i64 column() const { return transposed_ ? k_ : 1; }
  i64 line_size() const { return lines_.size() / 6; }
  OncePanels once() const {
    const auto count = ceil_div(n_, kColumns);
    return {.count = count,
            .words = u8_panels_size(k_, kColumns),
            .read_words = transposed_ && source_.is_read() ? kColumns * u8_words(k_) : 0,
            .by_panels = count >= kOncePanels};
  }

  U8Product product(const U8RowScale* levels) const {
    const auto size = line_size();
    const auto* line = lines_.data();
    return {.panels = packed_->words(),
            .k = k_,
            .n = n_,
            .scale = line,
            .shift = line + size,
            .epilogue = ending_.epilogue(nullptr),
            .levels = levels,
            .level_by = line + 4 * size,
            .level_plus = line + 5 * size,
            .level_scale = line + 2 * size,
            .level_shift = line + 3 * size,
            .small = small_,
            .excess = packed_->excesses.data()};
  }
  U8Rows place(const View& v, i64 row) const {
    if (v.type == ElementType::f32) return {.wide = reinterpret_cast<float*>(v.data) + row * n_};
    return {.levels = reinterpret_cast<std::uint8_t*>(v.data) + row * n_};
  }
  const float* residual(std::span<const View> in, i64 row) const {
    return ending_.residual < 0 ? nullptr : in[ending_.residual].as<const float>() + row * n_;
  }

  float level_shift(double shift) const {
    const auto q = out_->scale();
    return static_cast<float>((shift - q.low) / q.step);
  }

  /// A sum stands for scale · sum + shift; the FakeQuantize that follows is the same line in levels.
  void set_lines(const Operands& operands) {
    const auto& levels = operands.in;
    const auto size = line_size();
    auto* line = lines_.data();
    // Weights that were not looked at yet may be as large as i8 can.
    const auto sums = late_ ? std::vector(n_, IntegerSums{.total = 128 * k_, .sizes = 128 * k_})
                            : column_sums(operands.weights.values.data<std::int8_t>(), row(), column(), k_, n_);
    const auto zero = levels.zero(0);
    const auto low = zero ? -double{levels.scale(0)} * *zero : double{levels.low(0)};
    small_ = true;
    for (i64 j = 0; j < n_; ++j) {
      const auto step = double{operands.weights.scale[j]}, by = step * levels.scale(0);
      const SumShift plus{.by_total = step * low, .rest = ending_.bias.size() > 0 ? double{ending_.bias.data()[j]} : 0};
      line[j] = static_cast<float>(by);
      if (late_) shifts_.push_back(plus);
      else line[size + j] = static_cast<float>(plus.with(sums[j].total));
      if (!out_) continue;
      const auto q = out_->scale();
      const auto level = by / q.step;
      line[4 * size + j] = (q.factors ? q.factors[j] : 1) * q.by;
      line[5 * size + j] = q.plus;
      line[2 * size + j] = static_cast<float>(level);
      if (!late_) line[3 * size + j] = level_shift(plus.with(sums[j].total));
      const auto most = std::abs(plus.by_total) * static_cast<double>(std::abs(sums[j].total)) + std::abs(plus.rest);
      small_ = small_ &&
               static_cast<double>(sums[j].sizes) * 255 * std::abs(level) + (most + std::abs(double{q.low})) / q.step <
                   1 << 30;
    }
  }

  /// The panel and the lines of its columns, of weights that are late.
  void make_panel(i64 panel, Word* read, Word* to, float* shift, float* level_shifts) const {
    const auto first = panel * kColumns, count = std::min(kColumns, n_ - first);
    const auto* values = transposed_ ? source_.get(first * k_, count * k_, reinterpret_cast<std::int8_t*>(read))
                                     : source_.data() + first;
    pack_u8_panels(values, row(), column(), k_, count, to);
    const auto sums = column_sums(values, row(), column(), k_, count);
    for (i64 c = 0; c < kColumns; ++c) {
      const auto plus = c < count ? shifts_[first + c].with(sums[c].total) : 0;
      shift[first + c] = static_cast<float>(plus);
      level_shifts[first + c] = out_ ? level_shift(plus) : 0;
    }
  }

  /// Of weights that are not looked at.
  PairExcesses none() const { return in_.pairs_fit() ? PairExcesses::none(ceil_div(n_, kColumns)) : PairExcesses(); }

  PackedU8 packed(const I8Weights& weights, bool once, i64 rows, ThreadPool& pool) const {
    PackedU8 to{.packed = Buffer(u8_panels_size(k_, n_), pool)};
    auto* panels = reinterpret_cast<Word*>(to.packed.data());
    const auto* from = weights.values.data<std::int8_t>();
    parallel_panels(pool, k_, n_, [&](i64 first, i64 columns) {
      pack_u8_panels(from + first * column(), row(), column(), k_, columns, panels + u8_panels_size(k_, first));
    });
    const PanelSteps order{.steps = u8_words(k_), .last_steps = u8_words(k_)};
    to.excesses = once || in_.pairs_fit() ? none() : PairExcesses(panels, ceil_div(n_, kColumns), order, rows, pool);
    return to;
  }

  std::shared_ptr<const PackedU8> packed_;
  Buffer lines_;
  i64 k_, n_;
  bool transposed_, late_, small_ = false;
  Ending ending_;
  RowLevels in_;
  std::optional<RowLevels> out_;
  I8Source source_;  // of weights that are late
  std::vector<SumShift> shifts_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  auto operands = Operands::of(graph, root, i8_weights);
  if (!operands || operands->sides.k > (i64{1} << 16)) return std::nullopt;  // sums fit 32 bits
  const auto a = graph.input(root, 0);
  const auto rank = graph.fact(a).shape.rank();
  Match match{operands->weights.nodes, {a}, nullptr};
  match.nodes.push_back(root);
  auto ending = take_ending(graph, match, rank, rank - 1, operands->sides.n);
  // Levels may be by column, which another shape has no axis of.
  auto out = match.written ? std::nullopt : take_row_levels(graph, match.nodes);
  if (!graph.takes(match.nodes)) return std::nullopt;
  match.kernel = std::make_unique<Int8MatMul>(graph, *operands, RowLevels(operands->in), std::move(ending),
                                              std::move(out), !graph.options().steady());
  return match;
}

/// What computes the weights from integers.
std::vector<int> unfolded(const Graphlet& graph, int root) {
  auto operands = Operands::of(graph, root, stored_i8_weights);
  return operands ? std::move(operands->weights.nodes) : std::vector<int>();
}

constexpr std::string_view kRoots[] = {"MatMul"};

}  // namespace

extern constinit const Pattern pattern{.name = "int8_matmul",
                                       .roots = kRoots,
                                       .match = match,
                                       .unfolded = unfolded,
                                       .priority = Priority::narrow,
                                       .precision = Precision::int8};

}  // namespace ovir::fast::patterns::int8_matmul
