// Attributes of DeformableConvolution; the fast tier reads them too.
#pragma once
#include <vector>

#include "op/kit/window.hpp"

namespace ovir {

struct DeformableConvolutionAttrs {
  std::vector<i64> strides, pads_begin, pads_end, dilations;
  AutoPad auto_pad = AutoPad::given;
  i64 group = 1, deformable_group = 1;
  bool bilinear_interpolation_pad = false;

  Window window(std::size_t axis, i64 kernel) const {
    return {.kernel = kernel,
            .stride = strides[axis],
            .dilation = dilations[axis],
            .pad_begin = nth_or(pads_begin, axis, 0),
            .pad_end = nth_or(pads_end, axis, 0),
            .auto_pad = auto_pad};
  }
};

}  // namespace ovir
