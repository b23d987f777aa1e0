// Products of few rows by a matrix that is read where it lies, as when one token after the other is decoded.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/epilogue.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// c[m][n] = epilogue(a[m][k] · bᵀ) for b[n][k]. Each row of b is read once, for all rows of a.
void product_of_dots(const float* a, const float* b, float* c, i64 m, i64 n, i64 k, const Epilogue& epilogue,
                     ThreadPool& pool);

}  // namespace ovir::fast
