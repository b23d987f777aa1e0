// Attention where all scores of a query are there at once: up to kKeys keys.
#pragma once
#include "fast/kernels/attention/heads.hpp"

namespace ovir::fast {

/// Floats of a chunk's own memory.
i64 whole_size(const AttentionShape& s);

/// Queries [first, first + count) of a head; q, mask and out begin at the first of them.
void attend_whole(const AttentionShape& s, const PackedHead& head, const HeadView& q, const MaskView& mask, i64 first,
                  i64 count, const HeadPlace& out, float* memory);

}  // namespace ovir::fast
