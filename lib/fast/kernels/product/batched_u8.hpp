// Products of several matrices that are both on levels and computed in the run, summed in i32 (level_panels).
#pragma once
#include "fast/kernels/product/batched.hpp"
#include "fast/kernels/product/level_panels.hpp"

namespace ovir::fast {

/// The left matrices lie by rows (not p.a_transposed).
struct U8BatchedProduct {
  BatchedProduct p;
  LevelLine a, b;
  float scale = 1;                     ///< of products of steps
  const U8RowScale* levels = nullptr;  ///< onto which the results are brought, by no factors; null: they stay f32
  bool reads_a = false;                ///< its rows are words of levels
};

/// Floats of scratch memory.
i64 u8_batched_scratch_size(const U8BatchedProduct& u, int threads);
/// Operands lie side by side, as f32 or as levels, results likewise: what lies in `c` is f32, or levels where they
/// become such.
void u8_batched_product(const U8BatchedProduct& u, const LevelRows& a, const LevelRows& b, const U8Rows& c,
                        float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
