// Products of several matrices. Panels of the right ones are packed right before they are multiplied, where these are
// computed in the run, or beforehand.
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

/// Whether the right matrices are read in panels, not where they lie, as those are that few rows are multiplied by.
bool reads_panels(const BatchedProduct& p);
/// Floats that all right matrices take in panels.
i64 packed_matrices_size(const BatchedProduct& p);
void pack_matrices(const BatchedProduct& p, const float* b, float* to, ThreadPool& pool);
/// The same of matrices that were packed, where reads_panels(). Floats of scratch memory:
i64 packed_matrices_scratch_size(const BatchedProduct& p);
void packed_matrices_product(const BatchedProduct& p, const float* a, const float* panels, float* c,
                             const Epilogue& epilogue, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
