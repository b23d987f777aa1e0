// Products by a matrix that was packed beforehand, in bf16: c[m][n] = epilogue(a[m][k] · b[k][n]), summed in f32.
#pragma once
#include "base/int.hpp"
#include "fast/kernels/buffer.hpp"
#include "fast/kernels/epilogue_bf16.hpp"
#include "fast/kernels/panels.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Words of a row of k numbers in bf16, an odd one padded with 0.
inline i64 bf16_words(i64 k) { return (k + 1) / 2; }

/// A right operand in panels of 32 columns, [panel][words of a column][32]; columns beyond the last one are 0.
struct Bf16Panels {
  const Word* data;
  i64 k, n;
  i64 count() const { return (n + kColumns - 1) / kColumns; }
  i64 panel_size() const { return bf16_words(k) * kColumns; }
  /// What sums rows of the left operand, `row` words apart, by a panel.
  NarrowSum sum(const Word* rows, i64 row, i64 panel, Ahead* ahead) const;
};

i64 bf16_panels_size(i64 k, i64 n);
/// Of b, whose element (i, j) is b[i·row + j·column].
void pack_bf16_panels(const float* b, i64 row, i64 column, i64 k, i64 n, Word* to);

/// Rows of k f32, `row` apart, as words of bf16 side by side.
void rows_to_bf16(const float* a, i64 row, i64 k, i64 m, Word* to, ThreadPool& pool);

/// Rows of a are bf16_words(k) apart. Rows of c and of the residual, which may be c, are n apart.
void product(const Bf16Panels& b, const Word* a, const Bf16Place& c, i64 m, const Epilogue& epilogue,
             const Bf16Place& residual, ThreadPool& pool);
/// The same by panels [words of a column][32] of a matrix [k][n], which may be made as they are needed.
void product(const WordPanels& panels, i64 k, i64 n, const Word* a, const Bf16Place& c, i64 m, const Epilogue& epilogue,
             const Bf16Place& residual, ThreadPool& pool);

/// At most Bf16FewRows::kMost rows of words: c = a · b + bias, which may be null and else has whole panels, in f32.
/// Panels are shared out.
void product_of_few(const Bf16Panels& b, const Word* a, const float* bias, float* c, i64 m, ThreadPool& pool);

/// The most that k may be where the left operand is rounded as it is multiplied.
inline constexpr i64 kMostRounded = 1024;
/// Rows of f32, k apart, in this thread; k is at most kMostRounded.
void product_of_rows(const Bf16Panels& b, const float* a, const Bf16Place& c, i64 m, const Epilogue& epilogue,
                     const Bf16Place& residual);
/// Rows of words, in this thread.
void product_of_rows(const Bf16Panels& b, const Word* a, const Bf16Place& c, i64 m, const Epilogue& epilogue,
                     const Bf16Place& residual);

}  // namespace ovir::fast
