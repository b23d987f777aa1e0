#include "fast/kernels/product/dots.hpp"

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {

void product_of_dots(const float* a, const float* b, float* c, i64 m, i64 n, i64 k, const Epilogue& epilogue,
                     ThreadPool& pool) {
  const auto& table = isa();
  parallel_ranges(pool, n, 10 + static_cast<double>(m * k) / 8, [&](i64 begin, i64 end) {
    for (auto j = begin; j < end; ++j)
      for (i64 i = 0; i < m; ++i) c[i * n + j] = table.dot(a + i * k, b + j * k, k);
    for (i64 i = 0; i < m; ++i) {
      auto* row = c + i * n + begin;
      finish_row(table, epilogue, begin, 1, row, epilogue.residual ? epilogue.residual + i * n + begin : nullptr, row,
                 end - begin);
    }
  });
}

}  // namespace ovir::fast
