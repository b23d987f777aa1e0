// MatMul by a constant matrix, packed when the plan is made, with what follows it: for plans that run often. Where the
// number of rows is open, it is packed when more than a few rows come.
#include <mutex>

#include "fast/kernels/product/dots.hpp"
#include "fast/kernels/product/packed.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast::patterns::packed_matmul {
namespace {

/// So few rows are multiplied where the matrix lies: to pack it would take as long as many such products.
constexpr i64 kFewRows = 4;
/// A matrix of so many numbers that is multiplied so often is copied onto huge pages by the first of these products:
/// from them it comes half as fast again as from a mapped file.
constexpr i64 kLarge = i64{1} << 20, kOften = 16;

class PackedMatMul final : public Kernel {
 public:
  /// `packed`: at once; else, b being [n][k] and operand 1, when there are more than a few rows for the first time.
  /// `file`: from which rows of b are copied; may be empty.
  PackedMatMul(const ConstantMatrix& b, bool packed, FilePart file, Ending ending)
      : b_(b), in_place_(!packed), file_(std::move(file)), k_(b.k), n_(b.n), ending_(std::move(ending)) {
    if (packed) pack();
  }

  std::string name() const override { return "packed.matmul" + ending_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto& a = sizes.in[0];
    if (a.rank() < 2 || a.dim(a.rank() - 1) != k_) return nullptr;
    if (ending_.residual >= 0 && sizes.in[ending_.residual].size() != sizes.out[0].size()) return nullptr;
    if (in_place_ && !is_few(sizes.out[0])) std::call_once(once_, [this] { pack(); });
    auto state = std::make_unique<State>();
    state->rows = state->reserve(spread_rows_size(sizes.out[0].size() / n_, n_, k_));
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
    if (in_place_ && is_few(out[0])) {
      const auto* b = in[1].as<const float>();
      bool done = false;
      if (file_) {
        std::call_once(copied_, [&] {
          rows_ = Buffer::unwritten(n_ * k_);
          product_and_copy(a, {b, file_, nullptr}, rows_.data(), c, m, n_, k_, epilogue, pool);
          done = true;
        });
        b = rows_.data();
      }
      return done ? void() : product_of_dots(a, b, c, m, n_, k_, epilogue, pool);
    }
    const auto rows = spread_rows(a, m, n_, k_, state.floats(state.rows), pool);
    product({panels_.data(), k_, n_}, rows.data, rows.apart, c, n_, m, epilogue, pool);
  }

  /// Weights that several threads had better share out are left to run().
  i64 rows(const Sizes& sizes) const override {
    constexpr i64 kSmall = 64 << 10;
    return k_ * n_ <= kSmall && !in_place_ ? sizes.out[0].size() / n_ : 0;
  }
  void run_rows(std::span<const View> in, std::span<const View> out, i64 begin, i64 end) const override {
    const auto* residual = ending_.residual < 0 ? nullptr : in[ending_.residual].as<const float>() + begin * n_;
    product_alone({panels_.data(), k_, n_}, in[0].as<const float>() + begin * k_, k_, out[0].as<float>() + begin * n_,
                  n_, end - begin, ending_.epilogue(residual));
  }

  bool writes_over(int input) const override { return ending_.writes_over(input); }

 private:
  struct State final : KernelState {
    Scratch rows;
  };
  bool is_few(const View& out) const { return out.size() <= kFewRows * n_; }
  void pack() const {
    panels_ = Buffer(panels_size(k_, n_));
    pack_panels(b_.data, b_.row, b_.column, k_, n_, 0, (n_ + kColumns - 1) / kColumns, panels_.data());
  }

  ConstantMatrix b_;
  bool in_place_;
  FilePart file_;
  mutable std::once_flag once_, copied_;
  mutable Buffer panels_, rows_;
  i64 k_, n_;
  Ending ending_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  if (!graph.options().steady()) return std::nullopt;
  const auto b = constant_matrix(graph, root);
  if (!b) return std::nullopt;
  const auto a = graph.input(root, 0);
  const auto rank = graph.fact(a).shape.rank();
  Match match{{root}, {a}, nullptr};
  // Where the number of rows is open, it may be that of one token, in every run.
  bool open = false;
  for (i64 i = 0; i + 1 < rank; ++i) open = open || !graph.fact(a).shape[i].is_static();
  const bool packed = !open || b->row != 1;
  if (!packed) match.inputs.push_back(graph.input(root, 1));
  auto ending = take_ending(graph, match, rank, rank - 1, b->n);
  const bool copied = !packed && b->n * b->k >= kLarge && graph.options().expected_runs >= kOften;
  match.kernel = std::make_unique<PackedMatMul>(*b, packed, copied ? file_of(graph, graph.input(root, 1)) : FilePart(),
                                                std::move(ending));
  return match;
}

constexpr std::string_view kRoots[] = {"MatMul"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "packed_matmul", .roots = kRoots, .match = match, .priority = Priority::packed, .steady_only = true};

}  // namespace ovir::fast::patterns::packed_matmul
