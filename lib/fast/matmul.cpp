// MatMul-1 in f32 with the right operand as it lies in the file: for a single run.
#include "fast/own.hpp"
#include "fast/product.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast {
namespace {

/// c[m][n] = a[m][k] · b, b being [k][n] or, `transposed`, [n][k].
void multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n, std::int64_t k,
              bool transposed) {
  if (!transposed) {
    product(
        a, k, m, n, k,
        [&](std::int64_t k0, std::int64_t count, std::int64_t column, float* panel) {
          const auto columns = std::min(kPanel, n - column);
          for (std::int64_t i = 0; i < count; ++i, panel += kPanel) {
            std::copy_n(b + (k0 + i) * n + column, columns, panel);
            std::fill(panel + columns, panel + kPanel, 0.0f);
          }
        },
        [&](std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns, const float* tile) {
          for (std::int64_t i = 0; i < rows; ++i) std::copy_n(tile + i * kPanel, columns, c + (row + i) * n + column);
        });
  } else if (m < 16) {  // rows of both operands lie as a dot product wants them
    const auto& table = isa();
    constexpr std::int64_t kRows = 32;
    pool().run((n + kRows - 1) / kRows, [&](std::int64_t chunk) {
      for (auto j = chunk * kRows; j < std::min(n, (chunk + 1) * kRows); ++j)
        for (std::int64_t i = 0; i < m; ++i) c[i * n + j] = table.dot(a + i * k, b + j * k, k);
    });
  } else {  // the transposed product: b's rows are the left operand, a's rows the columns
    product(
        b, k, n, m, k,
        [&](std::int64_t k0, std::int64_t count, std::int64_t column, float* panel) {
          const auto columns = std::min(kPanel, m - column);
          std::fill(panel, panel + count * kPanel, 0.0f);
          for (std::int64_t j = 0; j < columns; ++j)
            for (std::int64_t i = 0; i < count; ++i) panel[i * kPanel + j] = a[(column + j) * k + k0 + i];
        },
        [&](std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns, const float* tile) {
          for (std::int64_t j = 0; j < columns; ++j)
            for (std::int64_t i = 0; i < rows; ++i) c[(column + j) * n + row + i] = tile[i * kPanel + j];
        });
  }
}

void matmul(EvalContext& c, const MatMulAttrs& attrs) {
  const auto &a = c.in(0), &b = c.in(1);
  // Vectors, a transposed left operand and batches on the right that are not the left one's are for the reference
  // kernel.
  const auto same_batches = [&] {
    return a.rank() == b.rank() && std::equal(a.shape().begin(), a.shape().end() - 2, b.shape().begin());
  };
  if (attrs.transpose_a || a.rank() < 2 || b.rank() < 2 || a.size() == 0 || (b.rank() != 2 && !same_batches()))
    return c.version().eval(c);
  auto& out = c.out(0);
  if (out.size() == 0) return;
  const auto k = a.shape().back(), n = out.shape().back();
  const auto batches = b.rank() == 2 ? 1 : b.size() / (k * n), m = a.size() / k / batches;
  for (std::int64_t i = 0; i < batches; ++i)
    multiply(a.data<float>() + i * m * k, b.data<float>() + i * k * n, out.mutable_data<float>() + i * m * n, m, n, k,
             attrs.transpose_b);
}

}  // namespace

Kernel prepare_matmul(const NodeView& node) {
  if (node.repeated || lifted_type(node.inputs[0].type) != ElementType::f32) return {};
  return [attrs = node.as<MatMulAttrs>()](EvalContext& c) { matmul(c, attrs); };
}

}  // namespace ovir::fast
