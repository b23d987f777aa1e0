// The different elements of data, sorted by digits.
#pragma once
#include <span>

#include "base/int.hpp"
#include "tensor/view.hpp"

namespace ovir::fast {

/// The most elements of data.
inline constexpr i64 kMostUnique = i64{1} << 31;
/// Scratch memory in floats.
i64 unique_scratch(const View& data);
/// Gives how many elements differ, which `scratch` then knows. NaN is larger than every number, -0 is 0.
i64 find_unique(const View& data, float* scratch);
/// Writes those of the outputs that there are: elements, where each is first, which of them each one of data is, how
/// often each occurs; in their order or, not sorted, in that of where they are first.
void put_unique(const View& data, bool sorted, float* scratch, std::span<const View> out);

}  // namespace ovir::fast
