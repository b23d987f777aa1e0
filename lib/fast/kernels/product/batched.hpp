// Products of matrices that are both computed in the run: panels of the right one are packed right before they are
// multiplied.
#pragma once
#include <span>
#include <vector>

#include "base/int.hpp"
#include "fast/kernels/epilogue.hpp"

namespace ovir {
struct MatMulAttrs;
class ThreadPool;
}  // namespace ovir

namespace ovir::fast {

/// c[i] = epilogue(a · b), an [m][k] matrix by a [k][n] one, for every product i.
struct BatchedProduct {
  i64 m = 0, n = 0, k = 0;
  bool a_transposed = false, b_transposed = false;  ///< matrices lie as [k][m], [n][k]
  i64 a_matrices = 0, b_matrices = 0;               ///< in each operand
  std::vector<i64> a, b;                            ///< by product: which of them it multiplies
  i64 together = 1;                                 ///< so many neighboring products have the same matrix of b

  i64 count() const { return std::ssize(a); }
};

/// What MatMul-1 computes of operands of these dims.
BatchedProduct product_of(const MatMulAttrs& attrs, std::span<const i64> a, std::span<const i64> b,
                          std::span<const i64> out);

/// Floats of scratch memory.
i64 batched_product_scratch_size(const BatchedProduct& p, int threads);
/// The epilogue's bias is by column; its residual lies as c, which it may be unless it is added after an activation.
void batched_product(const BatchedProduct& p, const float* a, const float* b, float* c, const Epilogue& epilogue,
                     float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
