// What the tests of convolution kernels share.
#pragma once
#include "fast/kernels/convolution/shape.hpp"
#include "kernels.hpp"

namespace ovir::fast {

inline ConvolutionShape shape(i64 batch, i64 groups, i64 channels, i64 outputs, i64 size, i64 out, i64 kernel,
                              i64 stride, i64 pad, i64 dilation = 1) {
  ConvolutionShape s;
  s.batch = batch;
  s.groups = groups;
  s.channels = channels;
  s.outputs = outputs;
  s.height = s.width = size;
  s.out_height = s.out_width = out;
  s.kernel_height = s.kernel_width = kernel;
  s.stride_y = s.stride_x = stride;
  s.pad_top = s.pad_left = pad;
  s.dilation_y = s.dilation_x = dilation;
  return s;
}

/// One spatial axis, one group.
inline ConvolutionShape row(i64 batch, i64 channels, i64 outputs, i64 size, i64 out, i64 kernel, i64 stride, i64 pad,
                            i64 dilation = 1) {
  auto s = shape(batch, 1, channels, outputs, size, out, kernel, stride, pad, dilation);
  s.height = s.out_height = s.kernel_height = s.stride_y = s.dilation_y = 1;
  s.pad_top = 0;
  return s;
}

/// The sums of a convolution, in double precision.
inline std::vector<double> naive(const ConvolutionShape& s, const Floats& in, const Floats& filters) {
  std::vector<double> out;
  for (i64 n = 0; n < s.batch; ++n)
    for (i64 o = 0; o < s.outputs; ++o)
      for (i64 y = 0; y < s.out_height; ++y)
        for (i64 x = 0; x < s.out_width; ++x) {
          double sum = 0;
          for (i64 c = 0; c < s.group_channels(); ++c)
            for (i64 t = 0; t < s.taps(); ++t) {
              const auto iy = y * s.stride_y - s.pad_top + t / s.kernel_width * s.dilation_y,
                         ix = x * s.stride_x - s.pad_left + t % s.kernel_width * s.dilation_x;
              if (iy < 0 || iy >= s.height || ix < 0 || ix >= s.width) continue;
              const auto channel = o / s.group_outputs() * s.group_channels() + c;
              sum += static_cast<double>(in[at((n * s.channels + channel) * s.plane() + iy * s.width + ix)]) *
                     filters[at((o * s.group_channels() + c) * s.taps() + t)];
            }
          out.push_back(sum);
        }
  return out;
}

}  // namespace ovir::fast
