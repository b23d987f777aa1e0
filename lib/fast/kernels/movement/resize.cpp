#include "fast/kernels/movement/resize.hpp"

namespace ovir::fast {

void resize_blocked(const float* in, float* out, i64 planes, i64 height, i64 width, const AxisSource* rows,
                    i64 out_height, const AxisSource* columns, i64 out_width, bool nearest, ThreadPool& pool) {
  const auto cost = static_cast<double>(out_width) * (nearest ? 2 : 12);
  parallel_ranges(pool, planes * out_height, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto* plane = in + i / out_height * height * width * kBlock;
      const auto& y = rows[i % out_height];
      const auto *upper = plane + y.first * width * kBlock, *lower = plane + y.second * width * kBlock;
      auto* to = out + i * out_width * kBlock;
      for (i64 x = 0; x < out_width; ++x, to += kBlock) {
        const auto& c = columns[x];
        const auto *a = upper + c.first * kBlock, *b = upper + c.second * kBlock, *d = lower + c.first * kBlock,
                   *e = lower + c.second * kBlock;
        if (nearest) {
          std::copy_n(a, kBlock, to);
          continue;
        }
        for (i64 k = 0; k < kBlock; ++k) {
          const auto top = a[k] + c.weight * (b[k] - a[k]), bottom = d[k] + c.weight * (e[k] - d[k]);
          to[k] = top + y.weight * (bottom - top);
        }
      }
    }
  });
}

}  // namespace ovir::fast
