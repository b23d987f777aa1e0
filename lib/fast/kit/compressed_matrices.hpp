// CompressedMatrices: constant matrices that stay compressed, as products and Gather read them.
#pragma once
#include <array>
#include <span>

#include "fast/kernels/product/compressed.hpp"
#include "fast/kit/decompression.hpp"
#include "plan/kernel.hpp"

namespace ovir::fast {

/// The matrices; scales and zero points are operands of the kernel that has them.
class CompressedMatrices {
 public:
  /// `scale`, `zero`: their places among the operands; no zero points where it is -1. `once`: read for one run.
  CompressedMatrices(const Decompression& d, int scale, int zero, bool once);

  Codes with(std::span<const View> in) const;
  /// What sizes follow from.
  const Codes& shape() const { return b_; }
  std::span<const i64> dims() const { return dims_; }

 private:
  Tensor codes_;
  WeightsFile file_;
  std::array<float, 16> levels_;
  Shape dims_;
  int scale_, zero_;
  Codes b_;
};

}  // namespace ovir::fast
