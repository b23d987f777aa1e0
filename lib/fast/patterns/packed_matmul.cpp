// MatMul by a constant matrix, packed when the plan is made, with what follows it: for plans that run often. Where the
// number of rows is open, it is packed when more than a few rows come. Of many rows, where the machine has tiles for
// bf16, it is packed as the sum of three bf16 for each f32 (product/bf16x3).
#include <mutex>
#include <optional>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/product/bf16x3.hpp"
#include "fast/kernels/product/packed.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/rows_of_matrix.hpp"

namespace ovir::fast::patterns::packed_matmul {
namespace {

/// So few rows are multiplied where the matrix lies: to pack it would take as long as many such products.
constexpr i64 kFewRows = 4;
/// A matrix of so many numbers that is multiplied so often is worth a copy.
constexpr i64 kLarge = i64{1} << 20, kOften = 16;

class PackedMatMul final : public Kernel {
 public:
  /// `rows`: as many as every run has; -1: unknown. Then the matrix is packed when there are more than a few rows for
  /// the first time. `few`: as what it is used for few rows; empty: packed, too.
  PackedMatMul(ConstantMatrix b, i64 rows, Tensor few, bool often, Ending ending, ThreadPool& pool)
      : b_(std::move(b)), k_(b_.k), n_(b_.n), ending_(std::move(ending)) {
    if (few) few_.emplace(std::move(few), n_, k_, b_.row != 1, often);
    if (rows < 0 || is_few(rows)) return;
    pack(rows, pool);
    b_.tensor = Tensor();
  }

  std::string name() const override { return "packed.matmul" + ending_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto& a = sizes.in[0];
    if (a.rank() < 2 || a.dim(a.rank() - 1) != k_) return nullptr;
    if (ending_.residual >= 0 && sizes.in[ending_.residual].size() != sizes.out[0].size()) return nullptr;
    const auto m = sizes.out[0].size() / n_;
    auto state = std::make_unique<State>();
    if (is_few(m)) return state;
    pack(m, runtime.pool());
    if (!in_three(m)) state->work = state->reserve(spread_rows_size(m, n_, k_));
    else if (!is_small()) state->work = state->reserve(bf16x3_scratch_size(m, k_));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto* residual = ending_.residual < 0 ? nullptr : in[ending_.residual].as<const float>();
    const auto* a = in[0].as<const float>();
    auto* c = out[0].as<float>();
    const auto epilogue = ending_.epilogue(residual);
    const auto m = out[0].size() / n_;
    auto& pool = runtime.pool();
    if (is_few(m)) return few_->product(a, c, m, epilogue, pool);
    auto* work = state.floats(state.work);
    if (in_three(m) && is_small()) {
      const auto cost = static_cast<double>(k_ * n_) / 150;  // ns, roughly
      return parallel_ranges(pool, m, cost, [&](i64 begin, i64 end) { run_rows(in, out, begin, end); });
    }
    if (in_three(m)) return product(three(), a, c, m, epilogue, reinterpret_cast<Word*>(work), pool);
    const auto rows = spread_rows(a, m, n_, k_, work, pool);
    product({panels_.data(), k_, n_}, rows.data, rows.apart, c, n_, m, epilogue, pool);
  }

  i64 rows(const Sizes& sizes) const override { return is_small() && !few_ ? sizes.out[0].size() / n_ : 0; }
  void run_rows(std::span<const View> in, std::span<const View> out, i64 begin, i64 end) const override {
    const auto* residual = ending_.residual < 0 ? nullptr : in[ending_.residual].as<const float>() + begin * n_;
    const auto* a = in[0].as<const float>() + begin * k_;
    auto* c = out[0].as<float>() + begin * n_;
    const auto epilogue = ending_.epilogue(residual);
    if (in_three(out[0].size() / n_)) product_alone(pairs(), a, c, end - begin, epilogue);
    else product_alone({panels_.data(), k_, n_}, a, k_, c, n_, end - begin, epilogue);
  }

  bool holds(int input) const override { return few_ && input == 1; }
  bool writes_over(int input) const override { return ending_.writes_over(input); }

 private:
  struct State final : KernelState {
    Scratch work;
  };
  bool is_few(i64 m) const { return few_ && m <= kFewRows; }
  /// Weights that several threads had better share out are left to run().
  bool is_small() const {
    constexpr i64 kSmall = 64 << 10;
    return k_ * n_ <= kSmall;
  }
  /// Rows of small products are shared out, so that each thread has but some of them.
  bool in_three(i64 m) const {
    return is_small() ? k_ <= kMostInThree && bf16x3_pays(m / 2, k_, n_) : bf16x3_pays(m, k_, n_);
  }
  Bf16x3Panels three() const { return {words(parts_), k_, n_}; }
  Bf16x3Pairs pairs() const { return {parts_.data(), k_, n_}; }
  /// The matrix for so many rows.
  void pack(i64 m, ThreadPool& pool) const {
    if (in_three(m)) {
      std::call_once(split_, [&] {
        parts_ = Buffer(is_small() ? bf16x3_pairs_size(k_, n_) : bf16x3_panels_size(k_, n_), pool);
        const auto b = b_.apart();
        const auto* const from = b.data();
        if (is_small()) pack_bf16x3_pairs(from, b.row, b.column, k_, n_, parts_.data());
        else
          parallel_panels(pool, k_, n_, [&](i64 first, i64 columns) {
            pack_bf16x3_panels(from + first * b.column, b.row, b.column, k_, columns,
                               words(parts_) + bf16x3_panels_size(k_, first));
          });
        b.tensor.leave_pages();
      });
    } else {
      std::call_once(packed_, [&] {
        panels_ = Buffer::unwritten(panels_size(k_, n_));
        const auto b = b_.apart();
        pack_panels(b.data(), b.row, b.column, k_, n_, panels_.data(), pool);
        b.tensor.leave_pages();
      });
    }
  }

  ConstantMatrix b_;
  i64 k_, n_;
  std::optional<RowsOfMatrix> few_;
  mutable std::once_flag packed_, split_;
  mutable Buffer panels_, parts_;
  Ending ending_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  if (!graph.options().steady()) return std::nullopt;
  auto b = constant_matrix(graph, root);
  if (!b) return std::nullopt;
  const auto a = graph.input(root, 0), matrix = graph.input(root, 1);
  const auto rank = graph.fact(a).shape.rank();
  Match match{{root}, {a}, nullptr};
  // Where the number of rows is open, it may be that of one token, in every run.
  i64 rows = 1;
  for (i64 i = 0; i + 1 < rank && rows >= 0; ++i) {
    const auto& length = graph.fact(a).shape[i];
    if (!length.is_static() || __builtin_mul_overflow(rows, length.length(), &rows)) rows = -1;
  }
  const bool large = b->n * b->k >= kLarge;
  const bool is_few = rows < 0 || (rows <= kFewRows && large);
  // Small ones are packed, so that neighbors may share a fork-join.
  const bool as_rows = b->row == 1 || large;
  Tensor few;
  if (as_rows && rows < 0) few = b->tensor;
  if (const auto* narrow = graph.narrow_constant(matrix)) {
    b->tensor = Tensor::widened(*narrow);  // of its own, so that it goes when it is packed
    // A large matrix comes from memory each time, in half as many bytes.
    if (as_rows && is_few) few = *narrow;
  }
  if (few) match.inputs.push_back(matrix);
  auto ending = take_ending(graph, match, rank, rank - 1, b->n);
  const bool often = few && large && graph.options().expected_runs >= kOften;
  match.kernel =
      std::make_unique<PackedMatMul>(*b, rows, std::move(few), often, std::move(ending), graph.packers(b->k * b->n));
  return match;
}

constexpr std::string_view kRoots[] = {"MatMul"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "packed_matmul", .roots = kRoots, .match = match, .priority = Priority::packed, .steady_only = true};

}  // namespace ovir::fast::patterns::packed_matmul
