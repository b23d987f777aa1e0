// Products by a matrix that is needed once: each part of it is read and packed right before it is multiplied.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/epilogue.hpp"
#include "fast/kernels/weights.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Floats of scratch memory for product_once(); weights.room is not used.
i64 product_once_scratch_size(i64 m, i64 n, i64 k, int threads);
/// c[m][n] = epilogue(a[m][k] · bᵀ) for b[n][k]; the residual may be c, unless it is added after an activation.
void product_once(const Weights& b, const float* a, float* c, i64 m, i64 n, i64 k, const Epilogue& epilogue,
                  float* scratch, ThreadPool& pool);

/// The panels of b[n][k], each of which is read right before it is packed, by all threads. Throws std::bad_alloc.
void pack_panels_once(const Weights& b, i64 n, i64 k, float* to, ThreadPool& pool);

}  // namespace ovir::fast
