// Products by a matrix that was packed beforehand: c[m][n] = epilogue(a[m][k] · b[k][n]).
#pragma once
#include <algorithm>

#include "base/int.hpp"
#include "fast/kernels/buffer.hpp"
#include "fast/kernels/epilogue.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Columns of a panel that has room for so many.
constexpr i64 columns_of(i64 filled) { return filled > kBlock ? kColumns : kBlock; }

/// A right operand in panels of 32 columns, [panel][k][32]; the last panel has 16 where those are enough. Columns
/// beyond n are zeros.
struct Panels {
  const float* data;
  i64 k, n;

  i64 count() const { return (n + kColumns - 1) / kColumns; }
  /// Columns of a panel that are not beyond n.
  i64 filled(i64 panel) const { return std::min(n - panel * kColumns, kColumns); }
  /// All columns of a panel: 32 or 16.
  i64 columns(i64 panel) const { return columns_of(filled(panel)); }
  const float* panel(i64 i) const { return data + i * k * kColumns; }
};

/// Floats that the panels of a [k][n] matrix take.
i64 panels_size(i64 k, i64 n);

/// Packs panels begin … end - 1 of b, whose element (i, j) is b[i·row + j·column]: one of the strides is 1.
void pack_panels(const float* b, i64 row, i64 column, i64 k, i64 n, i64 begin, i64 end, float* to);
/// All panels, on all threads.
void pack_panels(const float* b, i64 row, i64 column, i64 k, i64 n, float* to, ThreadPool& pool);

/// Rows of a left operand: `apart` floats from one to the next.
struct Rows {
  const float* data;
  i64 apart;
};
/// Floats of scratch memory for spread_rows().
i64 spread_rows_size(i64 m, i64 n, i64 k);
/// The rows of a[m][k] for product() by n columns, on all threads: copied where they would fall into one set of the
/// first-level cache, which does not hold as many as are multiplied at once, and where columns are enough to repay it.
Rows spread_rows(const float* a, i64 m, i64 n, i64 k, float* scratch, ThreadPool& pool);

/// Rows of a are `a_row` floats apart, those of c and of the residual `c_row`. Long sums are taken in parts of about
/// 1024 products. c may be the residual; it overlaps nothing else.
void product(const Panels& b, const float* a, i64 a_row, float* c, i64 c_row, i64 m, const Epilogue& epilogue,
             ThreadPool& pool);
/// The same in the caller's thread.
void product_alone(const Panels& b, const float* a, i64 a_row, float* c, i64 c_row, i64 m, const Epilogue& epilogue);

}  // namespace ovir::fast
