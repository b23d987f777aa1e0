#include "fast/kit/float_matrices.hpp"

#include <fmt/format.h>

#include "fast/kernels/product/dots.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast {
namespace {

/// Matrices of f16 or bf16, more than caches hold, whose columns' weights lie side by side.
Tensor narrow_constant(const Graphlet& graph, ValueRef b, bool transposed) {
  constexpr i64 kLarge = 256 << 10;
  const auto* constant = graph.narrow_constant(b);
  if (!graph.options().steady() || !transposed || !constant) return {};
  return constant->rank() > 2 && constant->size() >= kLarge ? *constant : Tensor();
}

}  // namespace

FloatMatrices::FloatMatrices(const Graphlet& graph, int matmul) {
  const auto& attrs = graph.attrs<MatMulAttrs>(matmul);
  const auto b = graph.input(matmul, 1);
  narrow_ = narrow_constant(graph, b, attrs.transpose_b);
  if (narrow_) wide_ = Tensor::widened(narrow_);
  const auto* constant = graph.constant(b);
  if (!constant || !graph.options().steady()) return;
  packed_ = graph.shared<PackedMatrices>(b, fmt::format("matrices, {}", attrs.transpose_b),
                                         [&] { return std::make_shared<const PackedMatrices>(*constant); });
  const auto left = PackedMatrices::known(graph.fact(graph.input(matmul, 0)).shape),
             result = PackedMatrices::known(graph.fact({matmul, 0}).shape);
  if (!left || !result) return;
  const auto p = product_of(attrs, *left, constant->shape(), *result);
  always_ = reads_panels(p) && p.m > kFewRows;
  if (always_) packed_->pack(p, {}, graph.packers(constant->size()));
}

BatchedProduct FloatMatrices::alone(BatchedProduct p) {
  if (p.count() == 1) {
    p.b_matrices = 1;
    p.b[0] = 0;
  }
  return p;
}

void FloatMatrices::multiply(const BatchedProduct& p, const float* a, const float* b, float* c,
                             const Epilogue& epilogue, float* scratch, ThreadPool& pool) const {
  if (is_packed(p)) return packed_->multiply(p, a, c, epilogue, scratch, pool);
  if (!reads_narrow(p)) {
    if (narrow_) b = wide_.data<float>();
    if (p.count() != 1 || p.b_matrices == 1) return batched_product(p, a, b, c, epilogue, scratch, pool);
    return batched_product(alone(p), a, b + p.b[0] * p.k * p.n, c, epilogue, scratch, pool);
  }
  const auto matrix = p.n * p.k * byte_width(narrow_.type());
  for (i64 i = 0; i < p.count(); ++i)
    product_of_dots(a + p.a[i] * p.m * p.k, NarrowWeights{narrow_.type(), narrow_.bytes() + p.b[i] * matrix},
                    c + i * p.m * p.n, p.m, p.n, p.k, epilogue.from(i * p.m * p.n, 0), pool);
}

}  // namespace ovir::fast
