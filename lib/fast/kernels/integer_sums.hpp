// Sums of the integers that weights are.
#pragma once
#include <cstdint>
#include <vector>

#include "base/int.hpp"

namespace ovir::fast {

/// The sum of integers, and of their absolute values.
struct IntegerSums {
  i64 total = 0, sizes = 0;
};
IntegerSums integer_sums(const std::int8_t* values, i64 n);
/// Those of each of n columns of k rows, `row` and `column` apart, one of which is 1.
std::vector<IntegerSums> column_sums(const std::int8_t* values, i64 row, i64 column, i64 k, i64 n);

}  // namespace ovir::fast
