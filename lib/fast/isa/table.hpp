// The innermost loops of the fast tier, compiled once for each instruction set. These files include nothing with
// inline functions: the linker could take another file's copy of one, compiled for a newer machine than this.
#pragma once
#include <cstdint>

namespace ovir::fast {

/// Columns of a packed panel.
inline constexpr std::int64_t kPanel = 64;

struct IsaTable {
  int rows;  ///< the most rows of a tile
  /// c[i][j] (+)= sum over k of a[i·lda + k] · panel[k·64 + j] for i < m, j < 64; `first`: c is set, not added to.
  void (*tile)(const float* a, std::int64_t lda, const float* panel, std::int64_t k, float* c, int m, bool first);
  /// The sum of x[i]·y[i].
  float (*dot)(const float* x, const float* y, std::int64_t n);
  /// y[i] += w · x[i·step]
  void (*axpy)(float w, const float* x, std::int64_t step, float* y, std::int64_t n);
};

extern const IsaTable kBaseTable;
#if defined(__x86_64__)
extern const IsaTable kAvx2Table, kAvx512Table;
#endif

/// The best that this machine can run.
const IsaTable& isa();

}  // namespace ovir::fast
