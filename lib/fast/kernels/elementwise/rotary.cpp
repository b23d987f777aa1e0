#include "fast/kernels/elementwise/rotary.hpp"

#include <algorithm>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {

void rotary(const RotaryShape& s, const RowsOfHeads& x, const RowsOfHeads& cosine, const RowsOfHeads& sine, float* y,
            ThreadPool& pool) {
  const auto turn = s.neighbors ? isa().turn_neighbors : isa().turn_halves;
  const auto cost = 3 + static_cast<double>(s.columns) / 12;
  parallel_ranges(pool, s.batch * s.heads * s.rows, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end;) {
      const auto b = i / (s.heads * s.rows), h = i / s.rows % s.heads;
      for (auto r = i % s.rows; r < s.rows && i < end; ++r, ++i) {
        const auto* from = x.at(b, h, r);
        auto* to = y + i * s.columns;
        turn(from, cosine.at(b, h, r), sine.at(b, h, r), to, s.turned);
        std::copy(from + s.turned, from + s.columns, to + s.turned);
      }
    }
  });
}

}  // namespace ovir::fast
