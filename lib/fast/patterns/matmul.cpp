// MatMul-1 in f32 with the right operand as it lies in the file: for a single run.
#include "fast/kernels/product/dots.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/product.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast::patterns::matmul {
namespace {

/// c[m][n] = a[m][k] · b, b being [k][n] or, `transposed`, [n][k].
void multiply(const float* a, const float* b, float* c, i64 m, i64 n, i64 k, bool transposed, Runtime& runtime) {
  if (!transposed) {
    product(
        a, k, m, n, k,
        [&](i64 k0, i64 count, i64 column, float* panel) {
          const auto columns = std::min(kPanel, n - column);
          for (i64 i = 0; i < count; ++i, panel += kPanel) {
            std::copy_n(b + (k0 + i) * n + column, columns, panel);
            std::fill(panel + columns, panel + kPanel, 0.0f);
          }
        },
        [&](i64 row, i64 rows, i64 column, i64 columns, const float* tile) {
          for (i64 i = 0; i < rows; ++i) std::copy_n(tile + i * kPanel, columns, c + (row + i) * n + column);
        },
        runtime);
  } else if (m < 16) {  // rows of both operands lie as a dot product wants them
    product_of_dots(a, b, c, m, n, k, {}, runtime.pool());
  } else {  // the transposed product: b's rows are the left operand, a's rows the columns
    product(
        b, k, n, m, k,
        [&](i64 k0, i64 count, i64 column, float* panel) {
          const auto columns = std::min(kPanel, m - column);
          std::fill(panel, panel + count * kPanel, 0.0f);
          for (i64 j = 0; j < columns; ++j)
            for (i64 i = 0; i < count; ++i) panel[i * kPanel + j] = a[(column + j) * k + k0 + i];
        },
        [&](i64 row, i64 rows, i64 column, i64 columns, const float* tile) {
          for (i64 j = 0; j < columns; ++j)
            for (i64 i = 0; i < rows; ++i) c[(column + j) * n + row + i] = tile[i * kPanel + j];
        },
        runtime);
  }
}

class OneShotMatMul final : public Kernel {
 public:
  OneShotMatMul(bool transposed, Ending ending) : transposed_(transposed), ending_(std::move(ending)) {}

  std::string name() const override { return "matmul" + ending_.name; }

  /// Vectors, and batches on the right that are not the left one's, are for the reference kernel.
  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    const auto &a = sizes.in[0], &b = sizes.in[1];
    if (a.rank() < 2 || b.rank() < 2 || a.size() == 0) return nullptr;
    if (b.rank() == 2) return std::make_unique<KernelState>();
    if (a.rank() != b.rank() || !std::equal(a.dims.begin(), a.dims.end() - 2, b.dims.begin())) return nullptr;
    return std::make_unique<KernelState>();
  }

  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto &a = in[0], &b = in[1];
    if (out[0].size() == 0) return;
    const auto k = a.dim(a.rank() - 1), n = out[0].dim(out[0].rank() - 1);
    const auto batches = b.rank() == 2 ? 1 : b.size() / (k * n), m = a.size() / k / batches;
    auto* c = out[0].as<float>();
    for (i64 i = 0; i < batches; ++i)
      multiply(a.as<const float>() + i * m * k, b.as<const float>() + i * k * n, c + i * m * n, m, n, k, transposed_,
               runtime);
    if (ending_.name.empty()) return;
    const auto* residual = ending_.residual < 0 ? nullptr : in[ending_.residual].as<const float>();
    const auto epilogue = ending_.epilogue(residual);
    constexpr i64 kRows = 16;
    runtime.parallel((m * batches + kRows - 1) / kRows, [&](i64 chunk) {
      for (i64 row = chunk * kRows; row < std::min(m * batches, (chunk + 1) * kRows); ++row)
        finish_row(isa(), epilogue, 0, 1, c + row * n, residual ? residual + row * n : nullptr, c + row * n, n);
    });
  }

 private:
  bool transposed_;
  Ending ending_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto a = graph.input(root, 0), b = graph.input(root, 1);
  const auto& attrs = graph.attrs<MatMulAttrs>(root);
  if (graph.stored(a) != ElementType::f32 || graph.stored(b) != ElementType::f32 || attrs.transpose_a)
    return std::nullopt;
  Match match{{root}, {a, b}, nullptr};
  Ending ending;
  const auto& shape = graph.fact(b).shape;
  if (shape.has_rank() && shape.rank() >= 2 && graph.fact({root, 0}).shape.has_rank()) {
    const auto rank = graph.fact({root, 0}).shape.rank();
    const auto& columns = shape[shape.rank() - (attrs.transpose_b ? 2 : 1)];
    if (columns.is_static() && rank >= 2) ending = take_ending(graph, match, rank, rank - 1, columns.length());
  }
  match.kernel = std::make_unique<OneShotMatMul>(attrs.transpose_b, std::move(ending));
  return match;
}

constexpr std::string_view kRoots[] = {"MatMul"};

}  // namespace

extern constinit const Pattern pattern{.name = "matmul", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::matmul
