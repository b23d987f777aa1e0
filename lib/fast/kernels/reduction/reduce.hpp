// Sums, means, extremes and products over axes.
#pragma once
#include <cstdint>

#include "base/int.hpp"
#include "fast/isa/table.hpp"
#include "fast/isa/whole.hpp"
#include "tensor/element_type.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// y[outer][middle][inner] from x[outer][parts][middle][n][inner].
struct Reduced {
  i64 outer = 1, parts = 1, middle = 1, n = 1, inner = 1;
};

/// The mean is the sum divided by the number of terms. f32; sums are taken in parts of a few hundred values. An empty
/// axis gives 0, NaN (mean), -inf or inf.
void reduce(Reduction what, const float* x, float* y, const Reduced& shape, ThreadPool& pool);
inline void reduce(Reduction what, const float* x, float* y, i64 outer, i64 n, i64 inner, ThreadPool& pool) {
  reduce(what, x, y, {.outer = outer, .n = n, .inner = inner}, pool);
}

/// Of `rows` rows of n values, in the caller's thread.
void reduce_rows(Reduction what, const float* x, float* y, i64 rows, i64 n);

/// The sum or mean of the products of x by `by`, which lies as x does.
void reduce_products(Reduction what, const float* x, const float* by, float* y, const Reduced& shape, ThreadPool& pool);

/// The sum, mean or norm of the plane of each channel, of blocks of 32 channels in bf16.
void reduce_bf16_planes(Reduction what, const std::uint16_t* x, float* y, i64 batch, i64 channels, i64 plane,
                        ThreadPool& pool);

/// What is not summed in f32: products of f32, in double precision, integers, which wrap, and booleans.
bool can_fold(Fold what, ElementType type);
void fold(Fold what, ElementType type, const void* x, void* y, const Reduced& shape, ThreadPool& pool);

}  // namespace ovir::fast
