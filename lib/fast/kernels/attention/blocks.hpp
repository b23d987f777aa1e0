// Attention by blocks of kKeys keys: what a block adds is scaled to the highest score so far.
#pragma once
#include "fast/kernels/attention/heads.hpp"

namespace ovir::fast {

/// Floats of a chunk's own memory.
i64 blocks_size(const AttentionShape& s);

/// Queries [first, first + count) of a head; q, mask and out begin at the first of them.
void attend_blocks(const AttentionShape& s, const PackedHead& head, const HeadView& q, const MaskView& mask, i64 first,
                   i64 count, const HeadPlace& out, float* memory);

}  // namespace ovir::fast
