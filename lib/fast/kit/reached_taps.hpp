// Taps of a kernel that meet nothing but padding are left out: where the plane is as small as the kernel, most do.
#pragma once
#include <optional>
#include <string>

#include "base/int.hpp"
#include "fast/kit/convolution_sum.hpp"
#include "fast/kit/convolutions.hpp"

namespace ovir::fast {

/// Rows and columns of a kernel within which all taps lie that read data.
struct ReachedTaps {
  Part rows, columns;

  /// The same convolution by these taps alone.
  StaticConvolution of(StaticConvolution convolution) const;
  /// Theirs of filters [outputs][channels of a group][taps of `whole`].
  Tensor of(const Tensor& filters, const ConvolutionShape& whole) const;
  /// Which taps of `whole` they are.
  std::string name(const ConvolutionShape& whole) const;
};

/// Nothing where that are all taps, or planes are not known before the run.
std::optional<ReachedTaps> reached_taps(const StaticConvolution& convolution);

}  // namespace ovir::fast
