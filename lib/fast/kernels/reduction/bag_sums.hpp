// Sums of rows of a table that indices name, bag by bag.
#pragma once
#include <functional>

#include "op/kit/embedding_bags.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// The table is [rows][width].
struct BagSums {
  const float* table;
  i64 width;
  const float* weights;  ///< by which each row counts; null: 1
  bool mean;
  const float* empty;  ///< what an empty bag has; null: zeros
};

/// y[b] = the sum of weights[i] · row index[i] over i in bag(b), for b < count. `mean_length`: of the bags, roughly.
template <class Index>
void bag_sums(const BagSums& of, const Index* index, const std::function<BagRange(i64)>& bag, i64 count,
              double mean_length, float* y, ThreadPool& pool);

}  // namespace ovir::fast
