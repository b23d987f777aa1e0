// Products of few rows by a matrix that is read where it lies, as when one token after the other is decoded.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/epilogue.hpp"
#include "fast/kernels/weights.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// c[m][n] = epilogue(a[m][k] · bᵀ) for b[n][k]; the residual may be c. Each row of b is read once, for all rows of a.
void product_of_dots(const float* a, const float* b, float* c, i64 m, i64 n, i64 k, const Epilogue& epilogue,
                     ThreadPool& pool);
void product_of_dots(const float* a, const NarrowWeights& b, float* c, i64 m, i64 n, i64 k, const Epilogue& epilogue,
                     ThreadPool& pool);
/// The same, with the rows of b written to `copy` on the way.
void product_and_copy(const float* a, const Weights& b, float* copy, float* c, i64 m, i64 n, i64 k,
                      const Epilogue& epilogue, ThreadPool& pool);
/// product_of_dots() for the columns from `begin` to `end` of c alone, whose rows of b lie at `rows`; `far`: in memory,
/// more than the caches hold.
void columns_of_dots(const float* a, const float* rows, float* c, i64 m, i64 n, i64 k, i64 begin, i64 end,
                     const Epilogue& epilogue, bool far = false);

}  // namespace ovir::fast
