// What the normalizations share: slices of a tensor over a set of axes.
#pragma once
#include "op/op.hpp"

namespace ovir::ops::normalization {

inline constexpr TypeVar T{"T", kFloat}, TAxes{"T_IND", kInteger};
inline constexpr PortDef kDataInput[] = {{"data", T}};
inline constexpr PortDef kDataAxesInputs[] = {{"data", T}, {"axes", TAxes}};
inline constexpr PortDef kOutputs[] = {{"output", T}};

/// The shape of data, once the axes in input `port`, where they are known, are found to exist and to be named once.
PartialShape infer_axes(const InferContext& c, int port);
void require_unique_axes(const InferContext& c, const std::vector<i64>& axes, int port, i64 rank,
                         std::string_view attribute = "");

/// A tensor as slices over `axes`: slice s holds the elements at starts[s] + offsets[i].
struct Slices {
  std::pmr::vector<i64> starts, offsets;
  Slices(const Shape& shape, const Shape& axes, std::pmr::memory_resource* memory);
};

/// Shifts a slice's elements to mean 0; with `scale` also multiplies by scale(variance).
template <class T, class Scale>
void standardize(const T* from, T* to, i64 start, std::span<const i64> offsets, Scale scale) {
  const auto n = static_cast<double>(offsets.size());
  double sum = 0, squares = 0;
  for (const auto i : offsets) sum += static_cast<double>(from[start + i]);
  const auto mean = sum / n;
  for (const auto i : offsets) {
    const auto d = static_cast<double>(from[start + i]) - mean;
    squares += d * d;
  }
  const auto factor = scale(squares / n);
  for (const auto i : offsets) to[start + i] = static_cast<T>((static_cast<double>(from[start + i]) - mean) * factor);
}

}  // namespace ovir::ops::normalization
