// Transposition: dims of an f32 tensor in another order.
#pragma once
#include <span>

#include "base/int.hpp"
#include "fast/isa/table.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// y's dim i is x's dim order[i]. At most 8 dims. Runs that stay together are copied, two axes that change places are
/// transposed in squares.
void permute(std::span<const i64> dims, std::span<const i64> order, const float* x, float* y, ThreadPool& pool);

}  // namespace ovir::fast
