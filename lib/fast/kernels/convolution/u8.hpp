// Convolution of u8 by i8 with sums in i32 on Layout::blocked: 64 channels a block.
#pragma once
#include "fast/kernels/buffer.hpp"
#include "fast/kernels/convolution/narrow.hpp"

namespace ovir::fast {

inline i64 u8_blocks(i64 channels) { return ceil_div(channels, 4 * kBlock); }

/// What levels stand for, by channel: level = round(x·by + plus) within 0 … max_level, x = low + scale·level. Arrays of
/// whole blocks of 64; lanes beyond the last channel become level 0.
struct U8Scale {
  const float *by, *plus, *low, *scale;
  float max_level;
};

/// A blocked tensor in u8, or in f32: one of the pointers.
struct U8Blocked {
  std::uint8_t* levels = nullptr;
  float* wide = nullptr;
};

/// How sums become values: as U8Tile has it, `scale` and `shift` by output, padded to whole panels.
struct U8Epilogue {
  const float *scale, *shift;
  float low, high;
  bool rounds;
  float own, other, offset, min, max;
  bool small = false;
  /// If not null, bounds of the first levels by output, padded; `low` and `high` are then those of bytes.
  const std::uint8_t *lows = nullptr, *highs = nullptr;
  /// With activations, each step by itself: scale and shift give a value, which the activation takes; level =
  /// round(value·by + plus) within 0 … max_level, by output, padded (null: no levels). `own`, `other` and `offset` give
  /// the sum with a residual, as a value, which min, max and the other activation take; then `sum_by` and so on.
  bool activated = false;
  Unary activation{}, sum_activation{};
  /// Without a residual the loops compute the activation, of which levels are made; `slopes` are then of levels, too.
  bool in_loops = false;
  const float *slopes = nullptr, *sum_slopes = nullptr, *by = nullptr, *plus = nullptr;
  float max_level = 255, sum_by = 1, sum_plus = 0, sum_max_level = 255;
  const PairExcess* excess = nullptr;  ///< of the weights (PairExcesses)
};

/// Weights [outputs][channels of a group][taps].
void u8_pack(const NarrowGeometry& geometry, const std::int8_t* weights, Word* to, ThreadPool& pool);
/// A panel, of weights from its first output on.
void u8_pack_panel(const NarrowGeometry& geometry, i64 panel, const std::int8_t* weights, Word* to);
/// The rows of an image in plain f32, padded with the level `pad`: for geometry.image.
void image_to_u8(const NarrowGeometry& geometry, const float* in, const U8Scale& q, std::uint8_t pad, Word* to,
                 ThreadPool& pool);
/// `in` is blocked u8, or what image_to_u8() made.
void u8_convolution(const NarrowGeometry& geometry, const WordPanels& filters, const Word* in, std::uint8_t pad,
                    const U8Blocked& out, const U8Blocked& residual, const U8Epilogue& e, Word* scratch,
                    ThreadPool& pool);

/// Tiles of such a convolution: what narrow_convolution() and others call for each of them.
void u8_tile(const ConvolutionShape& shape, const U8Blocked& out, const U8Blocked& residual, const U8Epilogue& e,
             const NarrowSum& sum, int pixels, i64 panel, i64 image, i64 pixel);

/// Rows of pixels of an output, `apart` pixels from one to the next.
struct PixelRows {
  i64 count = 1, pixels = 0, apart = 0;
  i64 place(i64 pixel) const { return pixel / pixels * apart + pixel % pixels; }
};
/// What follows the sums where e.activated: `values` are scaled and shifted, [32 / 16][pixel][16], and are overwritten.
void u8_activated_rows(const ConvolutionShape& shape, const U8Blocked& out, const U8Blocked& residual,
                       const U8Epilogue& e, float* values, PixelRows rows, i64 panel, i64 image, i64 pixel);

/// Columns of a panel that count, in whole blocks.
inline i64 u8_columns(const ConvolutionShape& s, i64 panel) {
  return s.outputs - panel * kColumns <= kBlock ? kBlock : kColumns;
}
/// A sum with what its weights left out, where it is stored and what follows it, as far as the loops compute it.
U8Tile u8_tile_of(const ConvolutionShape& shape, const U8Blocked& out, const U8Blocked& residual, const U8Epilogue& e,
                  const NarrowSum& sum, i64 panel, i64 image, i64 pixel);

/// The same, stored as levels from `out` on, 64 a pixel.
void u8_tile(const NarrowSum& sum, int pixels, i64 panel, const U8Epilogue& e, std::uint8_t* out);
/// The word around a plane.
inline Word u8_pad(std::uint8_t level) { return Word{level} * 0x01010101u; }
/// What surrounds planes whose channels have one level each, or all one.
class U8Pads {
 public:
  explicit U8Pads(std::span<const std::uint8_t> levels);
  /// Where all channels have one.
  std::uint8_t level() const { return static_cast<std::uint8_t>(words_[0]); }
  NarrowPads get() const { return {words_.data(), std::ssize(words_) > kBlock ? kBlock : 0}; }

 private:
  std::vector<Word> words_;
};

/// Bytes of the packed weights of a depthwise convolution, of at most kMaxDepthwiseTaps taps.
inline constexpr i64 kMaxDepthwiseTaps = 64;
i64 u8_depthwise_weights_size(const ConvolutionShape& shape);
/// Weights [channels][taps] become [block][tap][64].
void u8_depthwise_pack(const ConvolutionShape& shape, const std::int8_t* weights, std::int8_t* to);
/// The epilogue has no residual; its arrays are padded to blocks of 64.
void u8_depthwise(const ConvolutionShape& shape, const std::int8_t* weights, const Word* in, const NarrowPads& pads,
                  const U8Blocked& out, const U8Epilogue& e, Word* scratch, ThreadPool& pool);

/// Rows of it as levels, from `out` on: 64 a pixel.
void u8_depthwise_rows(const ConvolutionShape& shape, const std::int8_t* weights, const NarrowRows& rows,
                       const U8Epilogue& e, std::uint8_t* out);

/// f32, plain or blocked, [batch][channels][plane] becomes blocked levels, and back.
void to_u8_blocked(const float* in, bool blocked, const U8Scale& q, std::uint8_t* out, i64 batch, i64 channels,
                   i64 plane, ThreadPool& pool);
/// Of some levels others, through f32.
void requantize(const std::uint8_t* in, const U8Scale& from, const U8Scale& to, std::uint8_t* out, i64 batch,
                i64 channels, i64 plane, ThreadPool& pool);
void from_u8_blocked(const std::uint8_t* in, const U8Scale& q, float* out, bool blocked, i64 batch, i64 channels,
                     i64 plane, ThreadPool& pool);

}  // namespace ovir::fast
