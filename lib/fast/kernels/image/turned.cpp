#include "fast/kernels/image/turned.hpp"

#include <algorithm>

#include "fast/isa/table.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {

void turn_images(const float* x, i64 batch, i64 channels, i64 plane, i64 pixel, i64 apart, float* to,
                 ThreadPool& pool) {
  constexpr i64 kPixels = 128;  // at a time
  const auto runs = ceil_div(plane, kPixels);
  parallel_ranges(pool, batch * runs, static_cast<double>(kPixels * channels) / 4, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto n = i / runs, first = i % runs * kPixels;
      isa().transpose(x + n * channels * plane + first, plane, to + n * apart + first * pixel, pixel, channels,
                      std::min(kPixels, plane - first));
    }
  });
}

}  // namespace ovir::fast
