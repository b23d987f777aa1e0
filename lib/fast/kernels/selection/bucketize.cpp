#include "fast/kernels/selection/bucketize.hpp"

#include <algorithm>
#include <span>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/selection/rank.hpp"
#include "tensor/dispatch.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kTogether = 64;  // elements; one after the other would wait for each comparison

/// to[i] = how many of the sorted `bounds` are less than (or, if `equal`, not more than) the rank of x[i]. Of NaN none,
/// or all: it is neither less nor more.
template <class T>
void search(const T* x, i64 count, const Rank<T>* bounds, i64 n, bool equal, i64* to) {
  using R = Rank<T>;
  R ranks[kTogether];
  for (i64 i = 0; i < count; ++i) {
    ranks[i] = rank_of(x[i]);
    to[i] = 0;
  }
  // to[i] boundaries are known to be before x[i]; it is among the next `left`.
  for (auto left = n; left > 0;) {
    const auto half = (left + 1) / 2;
    for (i64 i = 0; i < count; ++i) {
      const auto bound = bounds[to[i] + half - 1];
      to[i] += half & -static_cast<i64>(equal ? bound <= ranks[i] : bound < ranks[i]);  // no branch
    }
    left -= half;
  }
  if constexpr (std::is_floating_point_v<T>)
    for (i64 i = 0; i < count; ++i)
      if (ranks[i] == kMostRank<R>) to[i] = equal ? n : 0;
}

/// Among boundaries that are not sorted what a search finds depends on its steps: these are the reference kernel's.
template <class T>
void search_unsorted(const T* x, i64 count, std::span<const T> bounds, bool equal, i64* to) {
  for (i64 i = 0; i < count; ++i) {
    const auto at = equal ? std::upper_bound(bounds.begin(), bounds.end(), x[i])
                          : std::lower_bound(bounds.begin(), bounds.end(), x[i]);
    to[i] = at - bounds.begin();
  }
}

}  // namespace

i64 bucketize_scratch(const View& boundaries) { return 2 * boundaries.size(); }

void bucketize(const View& x, const View& boundaries, bool with_right_bound, const View& y, float* scratch,
               ThreadPool& pool) {
  dispatch(x.type, Numbers{}, [&]<class T>() {
    auto* bounds = reinterpret_cast<Rank<T>*>(scratch);
    const auto n = boundaries.size();
    const std::span<const T> given(boundaries.as<const T>(), static_cast<std::size_t>(n));
    std::transform(given.begin(), given.end(), bounds, [](T bound) { return rank_of(bound); });
    // NaN, which has no place among numbers, has the last rank.
    const bool sorted = std::is_sorted(bounds, bounds + n) &&
                        (!std::is_floating_point_v<T> || n == 0 || bounds[n - 1] != kMostRank<Rank<T>>);
    const T* from = x.as<const T>();
    dispatch(y.type, Indices{}, [&]<class Index>() {
      Index* to = y.as<Index>();
      const auto each = 2 + static_cast<double>(std::bit_width(static_cast<std::uint64_t>(n)));
      parallel_ranges(pool, x.size(), each, [&](i64 begin, i64 end) {
        i64 found[kTogether];
        for (auto i = begin; i < end; i += kTogether) {
          const auto count = std::min(kTogether, end - i);
          if (sorted) search(from + i, count, bounds, n, !with_right_bound, found);
          else search_unsorted(from + i, count, given, !with_right_bound, found);
          for (i64 k = 0; k < count; ++k) to[i + k] = static_cast<Index>(found[k]);
        }
      });
    });
  });
}

}  // namespace ovir::fast
