// Normalization of rows: LayerNorm and MVN of trailing axes, RMSNorm, group and instance norm.
#pragma once
#include <cstdint>

#include "base/int.hpp"
#include "fast/isa/table.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

struct RowNormalization {
  i64 rows = 0, n = 0;
  float epsilon = 0;
  bool center = true;          ///< false: RMSNorm, which divides by the root of the mean square
  bool scale = true;           ///< false: the mean is subtracted and no more
  bool epsilon_inside = true;  ///< √(variance + ε), not √variance + ε
  /// Factors and offsets; null: none. By element of a row where `per_channel` is 0; else by run of `per_channel`
  /// elements, those of row r beginning at (r % channel_rows) · n / per_channel: [batch][groups][channels][plane].
  const float *weight = nullptr, *bias = nullptr;
  i64 per_channel = 0, channel_rows = 1;
  Unary activation{};  ///< of what comes out
};

/// y[r][i] = (x[r][i] - mean) / deviation · weight + bias. In place is allowed.
void normalize_rows(const RowNormalization& what, const float* x, float* y, ThreadPool& pool);
/// Rows [begin, end), in this thread.
void normalize_rows(const RowNormalization& what, const float* x, float* y, i64 begin, i64 end);
/// The same, rounded to bf16, where per_channel is 0; not in place.
void normalize_rows(const RowNormalization& what, const float* x, std::uint16_t* y, ThreadPool& pool);
void normalize_rows(const RowNormalization& what, const float* x, std::uint16_t* y, i64 begin, i64 end);

}  // namespace ovir::fast
