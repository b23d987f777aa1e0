// Convolution in bf16 on Layout::blocked: 32 channels a block. Sums, bias, residual and activation are f32.
#pragma once
#include "fast/kernels/convolution/narrow.hpp"
#include "fast/kernels/epilogue_bf16.hpp"

namespace ovir::fast {

inline i64 bf16_blocks(i64 channels) { return ceil_div(channels, 2 * kBlock); }

/// A blocked tensor in f32 or in bf16: one of the pointers.
struct Bf16Blocked {
  float* wide = nullptr;
  std::uint16_t* narrow = nullptr;
  explicit operator bool() const { return wide || narrow; }
};

/// The columns of a panel from output pixel `pixel` on; nothing of no tensor.
Bf16Place bf16_place(const ConvolutionShape& shape, const Bf16Blocked& to, i64 panel, i64 image, i64 pixel);

/// Filters [outputs][channels][taps] of one group.
void bf16_pack(const NarrowGeometry& geometry, const float* filters, Word* to, ThreadPool& pool);
/// A panel, of filters from its first output on.
void bf16_pack_panel(const NarrowGeometry& geometry, i64 panel, const float* filters, Word* to);
/// The rows of an image in plain f32, padded, or what each output pixel reads of them: for geometry.image.
void image_to_bf16(const NarrowGeometry& geometry, const float* in, Word* to, ThreadPool& pool);
/// `in` is blocked bf16, or where geometry.image plain f32; e.residual does not count.
void bf16_convolution(const NarrowGeometry& geometry, const WordPanels& filters, const void* in, const Bf16Blocked& out,
                      const Bf16Blocked& residual, const Epilogue& e, Word* scratch, ThreadPool& pool);

/// Floats of the packed filters of a depthwise convolution, and of its bias with it.
i64 bf16_depthwise_filters_size(const ConvolutionShape& shape);
/// Filters [channels][taps]; bias: null: none.
void bf16_depthwise_pack(const ConvolutionShape& shape, const float* filters, const float* bias, float* to);
/// Lanes beyond the last channel hold what the activation makes of 0.
void bf16_depthwise(const ConvolutionShape& shape, const float* filters, const Word* in, Word* out,
                    const Unary& activation, Word* scratch, ThreadPool& pool);

/// Rows of it, from `out` on: 16 words a pixel.
void bf16_depthwise_rows(const ConvolutionShape& shape, const float* filters, const NarrowRows& rows,
                         const Unary& activation, Word* out);

/// f32, plain or blocked, [batch][channels][plane] becomes blocked bf16, and back to plain.
void to_bf16_blocked(const float* in, bool blocked, Word* out, i64 batch, i64 channels, i64 plane, ThreadPool& pool);
void from_bf16_blocked(const Word* in, float* out, bool blocked, i64 batch, i64 channels, i64 plane, ThreadPool& pool);

}  // namespace ovir::fast
