// Normalization of pixels over their channels.
#pragma once
#include "base/int.hpp"
#include "fast/isa/table.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

struct PixelNormalization {
  i64 batch = 0, channels = 0, plane = 0;
  float epsilon = 0;
  const float *weight = nullptr, *bias = nullptr;  ///< by channel
  Unary activation{};                              ///< of what comes out
};

/// y = (x - mean) / √(variance + ε) · weight + bias, mean and variance being those of the channels of a pixel; x and y
/// are [batch][channels][plane], or `blocked`, where channels fill their blocks. In place is allowed.
void normalize_over_channels(const PixelNormalization& what, bool blocked, const float* x, float* y, ThreadPool& pool);

}  // namespace ovir::fast
