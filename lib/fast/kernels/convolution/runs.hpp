// Runs of pixels of blocks of channels: what is done to every element of a plane is done run by run.
#pragma once
#include <algorithm>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {

/// Calls part(image, block, first pixel, pixels) for all runs of up to `run` pixels of all blocks; `cost` is that of a
/// run, see parallel_ranges. Of large planes threads share out the pixels, as convolutions do (by_rows()).
template <class Part>
void parallel_runs(i64 batch, i64 blocks, i64 plane, i64 run, double cost, ThreadPool& pool, Part part) {
  const auto runs = ceil_div(plane, run);
  const bool rows = by_rows(plane);
  parallel_ranges(pool, batch * blocks * runs, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto image = i / (blocks * runs), rest = i % (blocks * runs);
      const auto block = rows ? rest % blocks : rest / runs, first = (rows ? rest / blocks : rest % runs) * run;
      part(image, block, first, std::min(run, plane - first));
    }
  });
}

}  // namespace ovir::fast
