// The k best along an axis.
#pragma once
#include "base/int.hpp"
#include "tensor/view.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Of x[outer][n][inner], n < 2^31; results are [outer][k][inner].
struct TopK {
  bool largest, by_index;  ///< in the order of values, or of indices
  i64 outer, n, inner, k;
};

/// Scratch memory in floats, of each slot.
i64 top_k_scratch(const TopK& t, ElementType type);
/// NaN is larger than every number; of equal elements the first is taken, and comes first. Either result may be null;
/// indices are i32 or i64.
void top_k(const TopK& t, const View& x, const View* values, const View* indices, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
