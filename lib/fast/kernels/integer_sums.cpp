#include "fast/kernels/integer_sums.hpp"

#include <algorithm>
#include <cstdlib>

namespace ovir::fast {

IntegerSums integer_sums(const std::int8_t* values, i64 n) {
  constexpr i64 kRun = 1 << 16;  // whose sums fit 32 bits
  IntegerSums sums;
  for (i64 first = 0; first < n; first += kRun) {
    int some = 0, some_sizes = 0;
    for (auto i = first; i < std::min(n, first + kRun); ++i) {
      some += values[i];
      some_sizes += std::abs(values[i]);
    }
    sums.total += some;
    sums.sizes += some_sizes;
  }
  return sums;
}

std::vector<IntegerSums> column_sums(const std::int8_t* values, i64 row, i64 column, i64 k, i64 n) {
  std::vector<IntegerSums> sums(n);
  if (row == 1)
    for (i64 j = 0; j < n; ++j) sums[j] = integer_sums(values + j * column, k);
  else  // in the order of memory
    for (i64 i = 0; i < k; ++i)
      for (i64 j = 0; j < n; ++j) {
        sums[j].total += values[i * row + j];
        sums[j].sizes += std::abs(values[i * row + j]);
      }
  return sums;
}

}  // namespace ovir::fast
