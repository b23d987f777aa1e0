// Zeros that a Pad adds, which the windows of a convolution or pooling behind it can add themselves.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "op/kit/window.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast {

/// The Pad, and zeros and own pads together before and behind each spatial axis.
struct Zeros {
  int node;
  std::vector<i64> begin, end;
};

/// Of the Pad, which `reader` alone reads, where every window of this kernel has some of the data in it, or could have.
/// `attrs`: ConvolutionAttrs or PoolAttrs.
template <class Attrs>
std::optional<Zeros> zeros_before(const Graphlet& graph, int reader, const Attrs& attrs, std::span<const i64> kernel);

}  // namespace ovir::fast
