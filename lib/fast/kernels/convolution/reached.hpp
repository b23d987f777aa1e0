// Which outputs and taps of a convolution meet along an axis: the others read padding.
#pragma once
#include <algorithm>

#include "base/int.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {

/// Outputs [begin, end) along an axis, of those in [first, last), that have the tap `offset` inside.
struct Inside {
  i64 begin, end;
  Inside(i64 offset, i64 stride, i64 length, i64 first, i64 last)
      : begin(std::max(first, offset < 0 ? ceil_div(-offset, stride) : 0)),
        end(std::min(last, offset < length ? (length - 1 - offset) / stride + 1 : 0)) {}
  i64 size() const { return std::max<i64>(0, end - begin); }
};

/// From the first of so many taps to the last that some output has inside; nothing where none is.
inline Part reached(i64 taps, i64 stride, i64 dilation, i64 pad, i64 length, i64 outputs) {
  const auto reads = [&](i64 tap) { return Inside(tap * dilation - pad, stride, length, 0, outputs).size() > 0; };
  Part part(0, taps);
  while (part.size() > 0 && !reads(part.begin)) ++part.begin;
  while (part.size() > 0 && !reads(part.end - 1)) --part.end;
  return part;
}

}  // namespace ovir::fast
