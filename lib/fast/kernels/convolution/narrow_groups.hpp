// Convolution of groups on words of bf16 or u8, whose tiles are rows of 16 columns (NarrowSum::rows).
#pragma once
#include "fast/kernels/convolution/narrow.hpp"

namespace ovir::fast {

/// Whether there are loops for it.
bool narrow_takes_rows(const NarrowGeometry& geometry);
/// Words of scratch memory.
i64 narrow_rows_scratch_size(const NarrowGeometry& geometry, int threads);
/// As narrow_convolution(), of packed filters.
void narrow_group_rows(const NarrowGeometry& geometry, const Word* filters, const Word* in, Word pad, Word* scratch,
                       ThreadPool& pool, const NarrowTileWork& tile);

}  // namespace ovir::fast
