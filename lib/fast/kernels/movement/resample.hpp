// Resampling along one axis: each element becomes a sum of some of those on its line.
#pragma once
#include <cstdint>
#include <vector>

#include "base/int.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Element k of `out` is the sum of `count` elements index[k · count + t] times weight[k · count + t], added in this
/// order; where `picks`, it is the one element.
struct AxisTaps {
  i64 in, out, count;
  std::vector<i64> index;
  std::vector<float> weight;
  bool picks = false;
};

/// x: [outer][in][inner], y: [outer][out][inner].
void resample(const AxisTaps& taps, i64 outer, i64 inner, const float* x, float* y, ThreadPool& pool);

}  // namespace ovir::fast
