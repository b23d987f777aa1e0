// MatMul of u8 less a zero point by a constant matrix of i32, brought to f32 and multiplied by a step, with what
// follows it: what DynamicQuantizeLinear and MatMulInteger of ONNX become. Zero point and step are operands.
#include <algorithm>
#include <cstring>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/pair_excess.hpp"
#include "fast/kernels/product/u8.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/integers.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::integer_matmul {
namespace {

constexpr i64 kLeast = -128, kMost = 127;  // of i8
constexpr i64 kMostBeyond = 127;

/// A constant matrix of i32 that are at most 255: what of them i8 can't hold is multiplied by itself, by the same words
/// of a row that lie behind it once more.
class Matrix {
 public:
  i64 k, n;
  static std::optional<Matrix> of(const Graphlet& graph, int root) {
    const auto& attrs = graph.attrs<MatMulAttrs>(root);
    const auto& a = graph.fact(graph.input(root, 0)).shape;
    const auto* t = graph.constant(graph.input(root, 1));
    if (attrs.transpose_a || !t || t->type() != ElementType::i32 || t->shape().size() < 2 || t->size() == 0 ||
        !a.has_rank() || a.rank() < std::ssize(t->shape()))
      return std::nullopt;
    const auto& shape = t->shape();
    const auto last = shape[shape.size() - 1], before = shape[shape.size() - 2];
    if (t->size() != last * before) return std::nullopt;
    Matrix m;
    m.values_ = *t;
    m.k = attrs.transpose_b ? last : before;
    m.n = attrs.transpose_b ? before : last;
    m.row_ = attrs.transpose_b ? 1 : m.n;
    m.column_ = attrs.transpose_b ? m.k : 1;
    return m.find_beyond(graph.packers(m.k * m.n)) ? std::optional(std::move(m)) : std::nullopt;
  }

  i64 words() const { return u8_words(k) + std::ssize(beyond_); }
  /// The words of a row that come once more.
  std::span<const i64> beyond() const { return beyond_; }

  /// Columns [first, first + count), packed; adds up each of them.
  void pack(i64 first, i64 count, Word* to, i64* sums) const {
    const auto rows = 4 * words();
    std::vector<std::int8_t> bytes(count * rows);
    for (i64 c = 0; c < count; ++c) {
      auto* const column = bytes.data() + c * rows;
      sums[c] = 0;
      for (i64 i = 0; i < k; ++i) {
        sums[c] += at(i, first + c);
        column[i] = held(at(i, first + c));
      }
      for (i64 b = 0; b < std::ssize(beyond_); ++b)
        for (i64 q = 0; q < 4; ++q)
          if (const auto i = 4 * beyond_[b] + q; i < k)
            column[4 * (u8_words(k) + b) + q] = static_cast<std::int8_t>(at(i, first + c) - held(at(i, first + c)));
    }
    pack_u8_panels(bytes.data(), 1, rows, rows, count, to);
  }

 private:
  i64 at(i64 i, i64 j) const { return values_.data<std::int32_t>()[i * row_ + j * column_]; }
  static std::int8_t held(i64 value) { return static_cast<std::int8_t>(std::clamp(value, kLeast, kMost)); }

  /// False where a number is too large.
  bool find_beyond(ThreadPool& pool) {
    const auto panels = ceil_div(n, kColumns);
    std::vector<char> beyond(panels * u8_words(k)), too_large(panels);
    parallel_ranges(pool, panels, static_cast<double>(k * kColumns), [&](i64 begin, i64 end) {
      for (auto panel = begin; panel < end; ++panel)
        for (i64 i = 0; i < k; ++i)
          for (auto j = panel * kColumns; j < std::min(n, (panel + 1) * kColumns); ++j) {
            const auto value = at(i, j);
            if (value >= kLeast && value <= kMost) continue;
            beyond[panel * u8_words(k) + i / 4] = 1;
            if (value < kLeast - kMostBeyond || value > kMost + kMostBeyond) too_large[panel] = 1;
          }
    });
    if (std::count(too_large.begin(), too_large.end(), 1) > 0) return false;
    for (i64 w = 0; w < u8_words(k); ++w)
      for (i64 panel = 0; panel < panels; ++panel)
        if (beyond[panel * u8_words(k) + w]) {
          beyond_.push_back(w);
          break;
        }
    return true;
  }

  Tensor values_;
  i64 row_, column_;
  std::vector<i64> beyond_;
};

class IntegerMatMul final : public Kernel {
 public:
  /// `zero`, `step`: their places among the operands, -1: 0 and 1. `rows`: 0: any number.
  IntegerMatMul(const Matrix& matrix, int zero, int step, Ending ending, bool once, i64 rows, ThreadPool& pool)
      : k_(matrix.k),
        n_(matrix.n),
        words_(matrix.words()),
        beyond_(matrix.beyond().begin(), matrix.beyond().end()),
        panels_(u8_panels_size(4 * words_, n_), pool),
        sums_(n_),
        zero_(zero),
        step_(step),
        ending_(std::move(ending)) {
    auto* const panels = reinterpret_cast<Word*>(panels_.data());
    const auto count = ceil_div(n_, kColumns);
    parallel(pool, count, [&](i64 panel) {
      const auto first = panel * kColumns;
      matrix.pack(first, std::min(kColumns, n_ - first), panels + u8_panels_size(4 * words_, first),
                  sums_.data() + first);
    });
    if (!once) excesses_ = PairExcesses(panels, count, {.steps = words_, .last_steps = words_}, rows, pool);
  }

  std::string name() const override {
    return std::string("integer.matmul") + (step_ >= 0 ? "+step" : "") + ending_.name;
  }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& a = sizes.in[0];
    if (a.rank() < 2 || a.dim(a.rank() - 1) != k_) return nullptr;
    if (zero_ >= 0 && sizes.in[zero_].size() != 1) return nullptr;
    if (step_ >= 0 && sizes.in[step_].size() != 1 && sizes.in[step_].size() != n_) return nullptr;
    if (ending_.residual >= 0 && sizes.in[ending_.residual].size() != sizes.out[0].size()) return nullptr;
    auto state = std::make_unique<State>();
    state->lines = state->reserve(2 * line_size());
    if (copies()) state->rows = state->reserve(a.size() / k_ * words_);
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    auto& pool = runtime.pool();
    const auto m = out[0].size() / n_;
    auto *const scale = state.floats(state.lines), *const shift = scale + line_size();
    set_lines(in, scale, shift);
    const auto* rows = reinterpret_cast<const Word*>(in[0].data);
    if (copies()) {
      auto* const copied = reinterpret_cast<Word*>(state.floats(state.rows));
      parallel_ranges(pool, m, static_cast<double>(k_) / 16, [&](i64 begin, i64 end) {
        for (auto i = begin; i < end; ++i) copy_row(in[0].as<const std::uint8_t>() + i * k_, copied + i * words_);
      });
      rows = copied;
    }
    const U8Product b{.panels = reinterpret_cast<const Word*>(panels_.data()),
                      .k = 4 * words_,
                      .n = n_,
                      .scale = scale,
                      .shift = shift,
                      .epilogue = ending_.epilogue(nullptr),
                      .level_scale = nullptr,
                      .level_shift = nullptr,
                      .excess = excesses_.data()};
    const auto* residual = ending_.residual < 0 ? nullptr : in[ending_.residual].as<const float>();
    product(b, rows, {.wide = out[0].as<float>()}, m, residual, pool);
  }

  /// A tile of the residual is read before that of the output is written.
  bool writes_over(int input) const override { return ending_.residual >= 0 && input == ending_.residual; }

 private:
  struct State final : KernelState {
    Scratch lines, rows;
  };

  i64 line_size() const { return round_up(n_, kColumns); }
  bool copies() const { return k_ % 4 != 0 || !beyond_.empty(); }

  void copy_row(const std::uint8_t* from, Word* to) const {
    to[u8_words(k_) - 1] = 0;
    std::memcpy(to, from, k_);
    for (std::size_t b = 0; b < beyond_.size(); ++b) to[u8_words(k_) + b] = to[beyond_[b]];
  }

  /// A sum of products of u8 stands for step · (sum - zero · the sum of the column) + bias.
  void set_lines(std::span<const View> in, float* scale, float* shift) const {
    std::fill_n(scale, 2 * line_size(), 0.0f);
    const auto zero = zero_ >= 0 ? *in[zero_].as<const std::uint8_t>() : 0;
    for (i64 j = 0; j < n_; ++j) {
      if (step_ < 0) scale[j] = 1;
      else scale[j] = in[step_].as<const float>()[in[step_].size() == 1 ? 0 : j];
      const auto bias = ending_.bias.size() > 0 ? double{ending_.bias.data()[j]} : 0;
      shift[j] = static_cast<float>(bias - double{scale[j]} * static_cast<double>(zero * sums_[j]));
    }
  }

  i64 k_, n_, words_;
  std::vector<i64> beyond_;
  Buffer panels_;
  PairExcesses excesses_;
  std::vector<i64> sums_;  // of columns
  int zero_, step_;
  Ending ending_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto matrix = Matrix::of(graph, root);
  if (!matrix || matrix->words() > (i64{1} << 14)) return std::nullopt;  // sums fit 32 bits
  auto found = integer_product(graph, root, matrix->n);
  if (!found) return std::nullopt;
  auto& match = found->match;
  const auto& out = graph.fact({root, 0}).shape;
  auto ending = take_ending(graph, match, out.rank(), out.rank() - 1, matrix->n);
  const auto rows = out.is_static() ? out.to_shape().count() / std::max<i64>(matrix->n, 1) : 0;
  match.kernel = std::make_unique<IntegerMatMul>(*matrix, found->zero, found->step, std::move(ending),
                                                 !graph.options().steady(), rows, graph.packers(matrix->k * matrix->n));
  return std::move(match);
}

constexpr std::string_view kRoots[] = {"MatMul"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "integer_matmul", .roots = kRoots, .match = match, .priority = Priority::narrow, .groups_only = true};

}  // namespace ovir::fast::patterns::integer_matmul
