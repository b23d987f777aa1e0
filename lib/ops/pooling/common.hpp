// What MaxPool and AvgPool share: their geometry and the walk over windows.
#pragma once
#include "op/kit/window.hpp"
#include "op/op.hpp"
#include "op/work.hpp"

namespace ovir::ops::pooling {

inline constexpr TypeVar T{"T", kNumeric};
inline constexpr PortDef kInputs[] = {{"data", T}};
using RoundingType1 = Attr<"rounding_type", &PoolAttrs::rounding_type, kOptional, Rounding::floor, Rounding::ceil>;
using RoundingType14 = Attr<"rounding_type", &PoolAttrs::rounding_type>;

/// Checks the geometry, gives the shape of the output.
PartialShape infer_windows(const InferContext& c);

/// The taps of one window along an axis that lie in the data: at first + tap * dilation for tap in [from, to).
struct Taps {
  i64 first, from, to;
};

/// A pooling in numbers, seen as 3D: axes that are missing have length 1.
struct Problem {
  i64 planes;
  i64 in[3], out[3];
  Window axis[3];  ///< padding resolved
  using Axis = std::pmr::vector<Taps>;
  Axis taps[3];  ///< per axis, per output
  /// Without axes and taps, which lie in `memory`.
  Problem(const Shape& data, const Shape& output, std::pmr::memory_resource* memory);
  Problem(const PoolAttrs& a, const Shape& data, const Shape& output, std::pmr::memory_resource* memory);
  i64 kernel_size() const { return axis[0].kernel * axis[1].kernel * axis[2].kernel; }
};

/// Calls start(), then tap(offset in the plane) for each element under the window, then end(z, y, x taps), window by
/// window in the order of the output.
template <class Start, class Tap, class End>
void each_window(const Problem& p, Start start, Tap tap, End end) {
  for (const auto& z : p.taps[0])
    for (const auto& y : p.taps[1])
      for (const auto& x : p.taps[2]) {
        start();
        for (auto i = z.from; i < z.to; ++i)
          for (auto j = y.from; j < y.to; ++j) {
            const auto row =
                ((z.first + i * p.axis[0].dilation) * p.in[1] + y.first + j * p.axis[1].dilation) * p.in[2];
            for (auto k = x.from; k < x.to; ++k) tap(row + x.first + k * p.axis[2].dilation);
          }
        end(z, y, x);
      }
}

/// Every window of MaxPool or AvgPool, as far as it may lie in the data.
i64 window_steps(const Version& version, const void* attrs, std::span<const Shape> in, std::span<const Shape> out);

/// The adaptive poolings: the window of output i along an axis is [floor(i * in / out), ceil((i + 1) * in / out)).
PartialShape infer_adaptive(const InferContext& c);
i64 adaptive_steps(const Version&, const void*, std::span<const Shape> in, std::span<const Shape> out);
Problem adaptive_problem(const Shape& data, const Shape& output, std::pmr::memory_resource* memory);

}  // namespace ovir::ops::pooling
