#include "fast/kernels/reduction/bag_sums.hpp"

#include <algorithm>
#include <array>

#include "fast/isa/table.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kTogether = 64;  // rows

template <class Index>
void bag_sum(const BagSums& of, const Index* index, BagRange bag, float* y) {
  std::array<const float*, kTogether> rows;
  std::array<float, kTogether> ones;
  if (!of.weights) ones.fill(1);
  for (auto first = bag.first; first < bag.last; first += kTogether) {
    const auto n = std::min(kTogether, bag.last - first);
    for (i64 i = 0; i < n; ++i) rows[i] = of.table + static_cast<i64>(index[first + i]) * of.width;
    isa().weighted_sum(of.weights ? of.weights + first : ones.data(), rows.data(), n, y, of.width, first == bag.first);
  }
  if (!of.mean) return;
  const auto length = static_cast<float>(bag.last - bag.first);
  for (i64 k = 0; k < of.width; ++k) y[k] /= length;
}

}  // namespace

template <class Index>
void bag_sums(const BagSums& of, const Index* index, const std::function<BagRange(i64)>& bag, i64 count,
              double mean_length, float* y, ThreadPool& pool) {
  // A row is mostly far from the one before.
  const auto cost = 10 + (mean_length + 1) * (10 + static_cast<double>(of.width) / 8);
  parallel_ranges(pool, count, cost, [&](i64 begin, i64 end) {
    for (auto b = begin; b < end; ++b) {
      const auto range = bag(b);
      float* to = y + b * of.width;
      if (range.first < range.last) bag_sum(of, index, range, to);
      else if (of.empty) std::copy_n(of.empty, of.width, to);
      else std::fill_n(to, of.width, 0.0F);
    }
  });
}

template void bag_sums(const BagSums&, const std::int32_t*, const std::function<BagRange(i64)>&, i64, double, float*,
                       ThreadPool&);
template void bag_sums(const BagSums&, const i64*, const std::function<BagRange(i64)>&, i64, double, float*,
                       ThreadPool&);

}  // namespace ovir::fast
