// Where elements are not zero.
#pragma once
#include "base/int.hpp"
#include "tensor/view.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Scratch memory in floats.
i64 non_zero_scratch(const View& x);
/// How many elements of 1, 2, 4 or 8 bytes are not zero; of floats -0 does not count, either. What is found by the way
/// goes into `scratch`.
i64 count_non_zero(const View& x, bool is_float, float* scratch, ThreadPool& pool);
/// to[axis][i] = the index along that axis of the i-th of them: i32 or i64. A scalar is a vector of one element.
void put_non_zero(const View& x, bool is_float, const View& to, const float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
