// (x - mean) · factor + beta by channel, each step rounded.
#pragma once
#include "base/int.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

struct ChannelLines {
  const float *mean, *factor, *beta;
};

/// x and y are [batch][channels][plane]; in place is allowed.
void normalize_channels(const ChannelLines& lines, const float* x, float* y, i64 batch, i64 channels, i64 plane,
                        ThreadPool& pool);

/// x and y are blocked; channels fill their blocks.
void normalize_blocked_channels(const ChannelLines& lines, const float* x, float* y, i64 batch, i64 channels, i64 plane,
                                ThreadPool& pool);

}  // namespace ovir::fast
