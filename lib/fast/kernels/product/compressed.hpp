// Products by weights that stay compressed: codes are read where they lie in the file, and decompressed in registers.
#pragma once
#include "base/int.hpp"
#include "fast/isa/table.hpp"
#include "fast/kernels/epilogue.hpp"
#include "fast/kernels/product/batched.hpp"
#include "fast/kernels/weights.hpp"

namespace ovir::fast {

/// [rows][columns] matrices of codes, one after the other.
struct Codes {
  CodeRows first;  ///< the first row of the first one
  i64 rows = 0, columns = 0;
  const WeightsFile* file = nullptr;  ///< where panels are read from; null: where `first` says they lie

  /// The product by the first one of m rows.
  BatchedProduct by_rows(i64 m) const {
    return {
        .m = m, .n = rows, .k = columns, .b_transposed = true, .a_matrices = 1, .b_matrices = 1, .a = {0}, .b = {0}};
  }
};

/// Floats of scratch memory.
i64 compressed_scratch_size(const Codes& b, const BatchedProduct& p, int threads);

/// c[i][p.m][b.rows] = epilogue(a[m][b.columns] · bᵀ) for every product of p, whose left operands are not transposed; c
/// overlaps nothing. Few rows are multiplied as the codes come; for more, panels of the matrix are decompressed first.
/// Throws Failure (E0302).
void compressed_product(const Codes& b, const BatchedProduct& p, const float* a, float* c, const Epilogue& epilogue,
                        float* scratch, ThreadPool& pool);

/// y[i] = row index[i] of the first matrix; indices from -rows on count from the end, rows beyond are zeros.
template <class Index>
void compressed_rows(const Codes& b, const Index* index, i64 count, float* y, ThreadPool& pool);

}  // namespace ovir::fast
