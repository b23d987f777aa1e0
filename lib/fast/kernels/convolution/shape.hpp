// Convolution of one or two spatial axes on Layout::blocked: what the kernels of this folder share.
#pragma once
#include <algorithm>

#include "base/int.hpp"
#include "fast/kernels/buffer.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/epilogue.hpp"

namespace ovir::fast {

/// The first axis of a volume, for kernels that take it as one plane: its slices lie one below the other, and so do the
/// planes of a filter. `pad` slices are before the first one.
struct Slices {
  i64 count = 1, out = 1, planes = 1;
  i64 stride = 1, dilation = 1, pad = 0;
};

/// Sizes of a convolution. One spatial axis is a plane of height 1.
struct ConvolutionShape {
  i64 batch = 1, groups = 1;
  i64 channels = 0, outputs = 0;  ///< of all groups together
  i64 height = 1, width = 0, out_height = 1, out_width = 0;
  i64 kernel_height = 1, kernel_width = 1;
  i64 stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  i64 pad_top = 0, pad_left = 0;  ///< those at the end follow from the output's size
  Slices slices = {};             ///< heights are those of all of them together, strides and pads those of each

  bool is_volume() const { return slices.count > 1 || slices.out > 1 || slices.planes > 1; }
  i64 slice_height() const { return height / slices.count; }
  i64 out_slice_height() const { return out_height / slices.out; }
  i64 plane_height() const { return kernel_height / slices.planes; }  ///< of a filter
  /// Output slices as images, of one plane of the filters.
  ConvolutionShape slice() const {
    auto s = *this;
    s.batch *= slices.out;
    s.height = slice_height();
    s.out_height = out_slice_height();
    s.kernel_height = plane_height();
    s.slices = {};
    return s;
  }
  i64 taps() const { return kernel_height * kernel_width; }
  i64 group_channels() const { return channels / groups; }
  i64 group_outputs() const { return outputs / groups; }
  /// Of those that the group of an output reads.
  i64 first_channel(i64 output) const { return output / group_outputs() * group_channels(); }
  i64 weights() const { return outputs * group_channels() * taps(); }
  i64 plane() const { return height * width; }
  i64 out_plane() const { return out_height * out_width; }
  bool is_pointwise() const {
    return taps() == 1 && stride_y == 1 && stride_x == 1 && pad_top == 0 && pad_left == 0 && height == out_height &&
           width == out_width && slices.stride == 1 && slices.pad == 0;
  }
  bool is_dilated() const { return dilation_y > 1 || dilation_x > 1; }
  /// Of a transposed convolution: its windows lie side by side and are the output.
  bool has_windows_apart() const {
    return kernel_height == stride_y && kernel_width == stride_x && !is_dilated() && pad_top == 0 && pad_left == 0 &&
           out_height == height * stride_y && out_width == width * stride_x;
  }
  /// It reads single pixels, some apart: once they are gathered, what is left is pointwise.
  bool is_sampled() const {
    return taps() == 1 && stride_y * stride_x > 1 && pad_top == 0 && pad_left == 0 && !is_volume() &&
           (out_height - 1) * stride_y < height && (out_width - 1) * stride_x < width;
  }
  /// That of what is left.
  ConvolutionShape sampled() const {
    auto s = *this;
    s.height = out_height;
    s.width = out_width;
    s.stride_y = s.stride_x = 1;
    return s;
  }
  bool is_depthwise() const { return groups > 1 && group_channels() == 1 && group_outputs() == 1; }
  /// The filters of all groups lie as those of one group of as many channels, packed and not: no block of channels and
  /// no panel of outputs belongs to two.
  bool packs_as_one_group() const {
    return groups == 1 || (group_channels() % kBlock == 0 && group_outputs() % kColumns == 0);
  }
  /// Each channel by itself gives one output or several.
  bool is_by_channel() const { return groups > 1 && group_channels() == 1; }
  double multiplications() const {
    return static_cast<double>(batch * outputs * group_channels() * taps()) * static_cast<double>(out_plane());
  }
};

/// The most taps of a plane that kernels take, but for planar_convolution().
inline constexpr i64 kMaxTaps = 256;

inline i64 blocks_of(i64 channels) { return ceil_div(channels, kBlock); }

/// Groups taken together so that each has whole blocks of channels and of outputs: the filters of those it joins lie
/// along the diagonal of its matrix. The last may have fewer groups; a single one needs no whole blocks.
struct JoinedGroups {
  i64 block;                      ///< channels of a block
  i64 joined = 1, count = 1;      ///< groups in each, and how many there are
  i64 channels = 0, outputs = 0;  ///< of each but the last

  /// Blocks have so many channels and outputs.
  explicit JoinedGroups(const ConvolutionShape& shape, i64 of_channels = kBlock, i64 of_outputs = kBlock);
  i64 blocks() const { return ceil_div(channels, block); }
  i64 channels_of(const ConvolutionShape& s, i64 i) const { return std::min(channels, s.channels - i * channels); }
  i64 outputs_of(const ConvolutionShape& s, i64 i) const { return std::min(outputs, s.outputs - i * outputs); }
  /// Blocks that 16 outputs of joined group i read, from `output` of it on: those of their own groups.
  struct Read {
    i64 begin, end;
  };
  Read blocks_read(const ConvolutionShape& s, i64 i, i64 output) const;
};

/// Lanes of the last block beyond the last channel become 0 where an activation made something else of 0.
void clear_padding(const ConvolutionShape& shape, const Unary& activation, float* out);

}  // namespace ovir::fast
