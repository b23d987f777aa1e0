// Products by weights that stay compressed: codes are read where they lie in the file, and decompressed in registers.
#pragma once
#include "base/int.hpp"
#include "fast/isa/table.hpp"
#include "fast/kernels/epilogue.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// A [rows][columns] matrix of codes.
struct Codes {
  CodeRows first;  ///< its first row
  i64 rows = 0, columns = 0;
};

/// Floats of scratch memory for m rows of the left operand.
i64 compressed_scratch_size(const Codes& b, i64 m, int threads);

/// c[m][b.rows] = epilogue(a[m][b.columns] · bᵀ); c overlaps nothing. Few rows are multiplied as the codes come; for
/// more, panels of the matrix are decompressed first.
void compressed_product(const Codes& b, const float* a, float* c, i64 m, const Epilogue& epilogue, float* scratch,
                        ThreadPool& pool);

/// y[i] = row index[i] of the matrix; indices from -rows on count from the end, rows beyond are zeros.
template <class Index>
void compressed_rows(const Codes& b, const Index* index, i64 count, float* y, ThreadPool& pool);

}  // namespace ovir::fast
