// Channels become pixels: [N][C·r·r][H][W] to [N][C][H·r][W·r], channel (c·r + i)·r + j of pixel (y, x) being channel c
// of pixel (y·r + i, x·r + j).
#pragma once
#include "base/int.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

struct PixelShuffle {
  i64 batch, channels, height, width, scale;  ///< channels of the output, size of the input, r
};

/// The largest scale.
inline constexpr i64 kMaxShuffle = 8;

/// On Layout::blocked.
void shuffle_blocked(const PixelShuffle& what, const float* in, float* out, ThreadPool& pool);

}  // namespace ovir::fast
