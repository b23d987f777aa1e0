// Sums and products of values that may be levels, onto levels, on blocks of 64 channels.
#pragma once
#include "fast/kernels/convolution/u8.hpp"

namespace ovir::fast {

/// A value [batch][channels][plane]: blocked levels, or blocked f32.
struct U8Operand {
  const std::uint8_t* levels = nullptr;
  const float* wide = nullptr;
  U8Scale scale{};  ///< of levels
};

/// level(clamp(a + b, low, high)), where levels stand for the same in all channels; `to`: those of the sum.
void u8_sum(const U8Operand& a, const U8Operand& b, float low, float high, const U8Scale& to, std::uint8_t* out,
            i64 batch, i64 channels, i64 plane, ThreadPool& pool);

/// level(x · gate); `gate`: a number for each channel, of each image or of all.
void u8_gate(const U8Operand& x, const float* gate, bool by_image, const U8Scale& to, std::uint8_t* out, i64 batch,
             i64 channels, i64 plane, ThreadPool& pool);

}  // namespace ovir::fast
