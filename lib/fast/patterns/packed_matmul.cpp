// MatMul by a constant matrix, packed when the plan is made, with what follows it: for plans that run often. Where the
// number of rows is open, it is packed when more than a few rows come: a small one at once, others when they have come
// several times. Of many rows, where the machine has tiles for bf16, it is packed as the sum of three bf16 for each f32
// (product/bf16x3).
#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "fast/isa/table.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/product/bf16x3.hpp"
#include "fast/kernels/product/once.hpp"
#include "fast/kernels/product/packed.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/rows_of_matrix.hpp"

namespace ovir::fast::patterns::packed_matmul {
namespace {

/// So few rows are multiplied where the matrix lies: to pack it would take as long as many such products.
constexpr i64 kFewRows = 4;
/// A matrix of so many numbers comes from memory each time.
constexpr i64 kLarge = i64{1} << 20;

/// A matrix that is not small is read from its file by so many products of many rows, before it is packed for those
/// that follow: a decoder has one such, of the prompt, before many of a single row, and would keep its weights twice.
constexpr int kReadProducts = 8;
/// The longest columns of a matrix that is read: a panel of them, of which each thread has one, takes 8 MiB.
constexpr i64 kLongestRead = 64 << 10;
/// Products of fewer rows by a matrix that is read add up in another order than those by a packed one.
constexpr i64 kFewestReadRows = 9;

/// After so many runs a large matrix is worth a copy on huge pages. Xeons with AVX-512 read it a quarter faster, the
/// Zen 3 that AVX2 was measured with 5 %.
i64 worth_a_copy() { return isa().lanes == 16 ? 16 : 64; }

bool is_small(i64 k, i64 n) {
  constexpr i64 kSmall = 64 << 10;
  return k * n <= kSmall;
}

/// Rows of small products are shared out, so that each thread has but some of them.
bool in_three(i64 rows, i64 k, i64 n) {
  return is_small(k, n) ? k <= kMostInThree && bf16x3_pays(rows / 2, k, n) : bf16x3_pays(rows, k, n);
}

/// A constant matrix, packed for many rows when they come.
class PackedMatrix {
 public:
  /// `file` has the matrix as [n][k]; may be empty.
  PackedMatrix(ConstantMatrix b, WeightsFile file) : b_(std::move(b)), file_(std::move(file)), k_(b_.k), n_(b_.n) {}
  /// For so many rows, and no others.
  PackedMatrix(ConstantMatrix b, WeightsFile file, i64 rows, ThreadPool& pool)
      : PackedMatrix(std::move(b), std::move(file)) {
    pack(rows, pool);
    b_.tensor = Tensor();
    file_ = {};
  }

  i64 k() const { return k_; }
  i64 n() const { return n_; }
  /// Weights that several threads had better share out are left to run().
  bool is_small() const { return fast::patterns::packed_matmul::is_small(k_, n_); }
  bool in_three(i64 rows) const { return fast::patterns::packed_matmul::in_three(rows, k_, n_); }

  Panels panels() const { return {panels_.data(), k_, n_}; }
  Bf16x3Panels three() const { return {words(parts_), k_, n_}; }
  Bf16x3Pairs pairs() const { return {parts_.data(), k_, n_}; }

  const WeightsFile& file() const { return file_; }
  /// Whether some products by so many rows are by the matrix as it is read.
  bool may_read(i64 rows) const { return file_ && !is_small() && rows >= kFewestReadRows && !in_three(rows); }
  /// Whether the next one is.
  bool reads(i64 rows) const {
    return may_read(rows) && products_.load(std::memory_order_relaxed) < kReadProducts &&
           products_.fetch_add(1, std::memory_order_relaxed) < kReadProducts;
  }

  void pack(i64 rows, ThreadPool& pool) const {
    if (in_three(rows)) {
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
        if (file_) return pack_panels_once({file_, nullptr}, n_, k_, panels_.data(), pool);
        const auto b = b_.apart();
        pack_panels(b.data(), b.row, b.column, k_, n_, panels_.data(), pool);
        b.tensor.leave_pages();
      });
    }
  }

 private:
  ConstantMatrix b_;
  WeightsFile file_;
  i64 k_, n_;
  mutable std::atomic<int> products_ = 0;
  mutable std::once_flag packed_, split_;
  mutable Buffer panels_, parts_;
};

class PackedMatMul final : public Kernel {
 public:
  /// `few`: as what the matrix is used for few rows; null: packed, too.
  PackedMatMul(std::shared_ptr<const PackedMatrix> matrix, std::shared_ptr<const RowsOfMatrix> few, Ending ending)
      : matrix_(std::move(matrix)), few_(std::move(few)), ending_(std::move(ending)) {}

  std::string name() const override { return "packed.matmul" + ending_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto& a = sizes.in[0];
    const auto k = matrix_->k(), n = matrix_->n();
    if (a.rank() < 2 || a.dim(a.rank() - 1) != k) return nullptr;
    if (ending_.residual >= 0 && sizes.in[ending_.residual].size() != sizes.out[0].size()) return nullptr;
    const auto m = sizes.out[0].size() / n;
    auto state = std::make_unique<State>();
    if (is_few(m)) return state;
    i64 size = 0;
    if (!matrix_->in_three(m)) size = spread_rows_size(m, n, k);
    else if (!matrix_->is_small()) size = bf16x3_scratch_size(m, k);
    if (matrix_->may_read(m)) size = std::max(size, product_once_scratch_size(m, n, k, runtime.threads()));
    else matrix_->pack(m, runtime.pool());
    state->work = state->reserve(size);
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto* residual = ending_.residual < 0 ? nullptr : in[ending_.residual].as<const float>();
    const auto* a = in[0].as<const float>();
    auto* c = out[0].as<float>();
    const auto epilogue = ending_.epilogue(residual);
    const auto k = matrix_->k(), n = matrix_->n(), m = out[0].size() / n;
    auto& pool = runtime.pool();
    if (is_few(m)) return few_->product(a, c, m, epilogue, pool);
    auto* work = state.floats(state.work);
    if (matrix_->reads(m)) return product_once({matrix_->file(), nullptr}, a, c, m, n, k, epilogue, work, pool);
    matrix_->pack(m, pool);
    if (matrix_->in_three(m) && matrix_->is_small()) {
      const auto cost = static_cast<double>(k * n) / 150;  // ns, roughly
      return parallel_ranges(pool, m, cost, [&](i64 begin, i64 end) { run_rows(in, out, begin, end); });
    }
    if (matrix_->in_three(m)) return product(matrix_->three(), a, c, m, epilogue, reinterpret_cast<Word*>(work), pool);
    const auto rows = spread_rows(a, m, n, k, work, pool);
    product(matrix_->panels(), rows.data, rows.apart, c, n, m, epilogue, pool);
  }

  i64 rows(const Sizes& sizes) const override {
    return matrix_->is_small() && !few_ ? sizes.out[0].size() / matrix_->n() : 0;
  }
  void run_rows(std::span<const View> in, std::span<const View> out, i64 begin, i64 end) const override {
    const auto k = matrix_->k(), n = matrix_->n();
    const auto* residual = ending_.residual < 0 ? nullptr : in[ending_.residual].as<const float>() + begin * n;
    const auto* a = in[0].as<const float>() + begin * k;
    auto* c = out[0].as<float>() + begin * n;
    const auto epilogue = ending_.epilogue(residual);
    if (matrix_->in_three(out[0].size() / n)) product_alone(matrix_->pairs(), a, c, end - begin, epilogue);
    else product_alone(matrix_->panels(), a, k, c, n, end - begin, epilogue);
  }

  bool holds(int input) const override { return few_ && input == 1; }
  bool writes_over(int input) const override { return ending_.writes_over(input); }

 private:
  struct State final : KernelState {
    Scratch work;
  };
  bool is_few(i64 m) const { return few_ && m <= kFewRows; }

  std::shared_ptr<const PackedMatrix> matrix_;
  std::shared_ptr<const RowsOfMatrix> few_;
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
  if (!graph.takes(match.nodes)) return std::nullopt;
  const bool often = few && large && graph.options().expected_runs >= worth_a_copy();
  const auto name = fmt::format("matrix {} {} {} {}", b->k, b->n, b->row, b->column);
  std::shared_ptr<const RowsOfMatrix> rows_of;
  if (few)
    rows_of = graph.shared<RowsOfMatrix>(matrix, fmt::format("rows, {}, {}", often, name), [&] {
      return std::make_shared<const RowsOfMatrix>(std::move(few), b->n, b->k, b->row != 1, often);
    });
  // Where every run has as many rows, they are packed now.
  const bool known = rows >= 0 && !(rows_of && rows <= kFewRows);
  const auto form = !known ? "open" : in_three(rows, b->k, b->n) ? "three" : "panels";
  auto file = b->row == 1 && b->k <= kLongestRead ? file_of(graph, matrix) : WeightsFile();
  auto packed = graph.shared<PackedMatrix>(matrix, fmt::format("{}, {}", form, name), [&] {
    return known ? std::make_shared<const PackedMatrix>(*b, std::move(file), rows, graph.packers(b->k * b->n))
                 : std::make_shared<const PackedMatrix>(*b, std::move(file));
  });
  match.kernel = std::make_unique<PackedMatMul>(std::move(packed), std::move(rows_of), std::move(ending));
  return match;
}

constexpr std::string_view kRoots[] = {"MatMul"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "packed_matmul", .roots = kRoots, .match = match, .priority = Priority::packed, .steady_only = true};

}  // namespace ovir::fast::patterns::packed_matmul
