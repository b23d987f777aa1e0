// Attributes of ExtractImagePatches; the fast tier reads them too.
#pragma once
#include <algorithm>
#include <vector>

#include "op/attributes.hpp"

namespace ovir {

enum class PatchPad : std::uint8_t { valid, same_lower, same_upper };
constexpr auto words(PatchPad) {
  return std::to_array<Word<PatchPad>>(
      {{"valid", PatchPad::valid}, {"same_lower", PatchPad::same_lower}, {"same_upper", PatchPad::same_upper}});
}

/// Of rows, then of columns.
struct ExtractImagePatchesAttrs {
  std::vector<i64> sizes, strides, rates;
  PatchPad auto_pad{};

  /// The extent of a patch: "patch_sizes_eff = patch_sizes + (patch_sizes - 1) * (rates - 1)".
  i64 extent(std::size_t axis) const { return sizes[axis] + (sizes[axis] - 1) * (rates[axis] - 1); }
  /// The padding before the image, of so many elements, of which there are `count` patches.
  i64 before(std::size_t axis, i64 length, i64 count) const {
    const auto missing = std::max<i64>(0, (count - 1) * strides[axis] + extent(axis) - length);
    return auto_pad == PatchPad::valid ? 0 : (missing + (auto_pad == PatchPad::same_lower ? 1 : 0)) / 2;
  }
};

}  // namespace ovir
