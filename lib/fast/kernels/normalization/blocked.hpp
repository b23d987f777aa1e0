// Group normalization on Layout::blocked.
#pragma once
#include <cstdint>

#include "base/int.hpp"
#include "fast/isa/table.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Of [batch][channels / 16][plane][16].
struct BlockedNormalization {
  i64 batch = 0, channels = 0, plane = 0, groups = 1;
  float epsilon = 0;
  const float *weight = nullptr, *bias = nullptr;  ///< by channel
  Unary activation{};                              ///< of what comes out
};

/// Whether every block holds whole groups, or every group whole blocks.
bool can_normalize_blocked(i64 channels, i64 groups);

/// y = (x - mean) / √(variance + ε) · weight + bias, mean and variance being those of a group. In place is allowed.
void normalize_blocked(const BlockedNormalization& what, const float* x, float* y, ThreadPool& pool);
/// The same, rounded to bf16, of which a block has 32 channels.
void normalize_blocked(const BlockedNormalization& what, const float* x, std::uint16_t* y, ThreadPool& pool);
/// The same of bf16, with those activations that it has loops for: none, and GELU. In place is allowed.
bool can_normalize_bf16(const Unary& activation);
void normalize_blocked(const BlockedNormalization& what, const std::uint16_t* x, std::uint16_t* y, ThreadPool& pool);

}  // namespace ovir::fast
