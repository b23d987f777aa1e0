// Resampling along an axis, or along rows and columns of an image: each element becomes a sum of some of those on its
// line.
#pragma once
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/int.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Sums of bytes are taken in double precision, as the reference kernel takes them.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, float>, float, double>;

/// Element k of `out` is the sum of `count` elements index[k · count + t] times weight[k · count + t], added in this
/// order; where `picks`, it is the one element.
template <class T>
struct AxisTaps {
  i64 in, out, count;
  std::vector<i64> index;
  std::vector<SumOf<T>> weight;
  bool picks = false;
};

/// x: [outer][rows.in][columns.in][inner], y: [outer][rows.out][columns.out][inner]. An axis without taps stays as it
/// is: rows without taps are counted by `outer`, and columns by `inner`. One of the two has taps.
template <class T>
struct Resampling {
  i64 outer, inner;
  std::optional<AxisTaps<T>> rows, columns;
  /// Of the results.
  i64 size() const { return outer * (rows ? rows->out : 1) * (columns ? columns->out : 1) * inner; }
};

/// In floats.
template <class T>
i64 resample_scratch_size(const Resampling<T>& what, int threads);
/// T: float, or std::uint8_t, which is rounded to the nearest, halves away from 0, after both axes.
template <class T>
void resample(const Resampling<T>& what, const T* x, T* y, float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
