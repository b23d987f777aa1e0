// Products of f32 by a matrix that was packed beforehand, each number as the sum of three bf16: c[m][n] =
// epilogue(a[m][k] · b[k][n]). As exact as products of f32, and faster where tiles multiply bf16.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/buffer.hpp"
#include "fast/kernels/epilogue_bf16.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Whether that is faster for these sizes, on this machine.
bool bf16x3_pays(i64 m, i64 k, i64 n);

/// Steps of a block; the last block is padded with 0.
inline constexpr i64 kBf16x3Steps = 2 * kBlock;
inline constexpr i64 bf16x3_blocks(i64 k) { return (k + kBf16x3Steps - 1) / kBf16x3Steps; }

/// A right operand: [panel of 32 columns][block][part][16][32] words; columns beyond the last one are 0.
struct Bf16x3Panels {
  const Word* data;
  i64 k, n;
  i64 count() const { return (n + kColumns - 1) / kColumns; }
  i64 panel_size() const { return bf16x3_blocks(k) * 3 * kBlock * kColumns; }
};
i64 bf16x3_panels_size(i64 k, i64 n);
/// Packs b, whose element (i, j) is b[i·row + j·column]: one of the strides is 1.
void pack_bf16x3_panels(const float* b, i64 row, i64 column, i64 k, i64 n, Word* to);

/// Words of scratch memory for the parts of a.
i64 bf16x3_scratch_size(i64 m, i64 k);
/// Rows of a are k apart; those of c and of the residual, which may be c, are n apart. Long sums are taken in parts of
/// about 1024 products.
void product(const Bf16x3Panels& b, const float* a, float* c, i64 m, const Epilogue& epilogue, Word* scratch,
             ThreadPool& pool);

/// A right operand whose parts are made as they are used, of numbers as Bf16x3Rows::weights has them: for few rows,
/// which read more than they multiply.
struct Bf16x3Pairs {
  const float* data;
  i64 k, n;
};
i64 bf16x3_pairs_size(i64 k, i64 n);
/// As pack_bf16x3_panels().
void pack_bf16x3_pairs(const float* b, i64 row, i64 column, i64 k, i64 n, float* to);

/// The most that k may be where there is no scratch memory.
inline constexpr i64 kMostInThree = 512;
/// The same as product(), to the bit, in the caller's thread, for k up to kMostInThree.
void product_alone(const Bf16x3Pairs& b, const float* a, float* c, i64 m, const Epilogue& epilogue);

}  // namespace ovir::fast
