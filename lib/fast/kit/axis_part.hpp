// Values that are a part of another one, along one axis.
#pragma once
#include <optional>

#include "plan/pattern.hpp"

namespace ovir::fast {

/// Places [first, first + length) of an axis.
struct AxisPart {
  i64 axis, first, length;
};

/// What a Slice-8 with steps of 1 along one axis, all of it constants, takes of its input; a part is never empty.
std::optional<AxisPart> part_of_slice(const Graphlet& graph, int node);

/// What an output of Split-1 or VariadicSplit-1 has of its input, or a Slice, or a Gather-8 of one place, which loses
/// the axis.
std::optional<AxisPart> part_of(const Graphlet& graph, ValueRef v);

}  // namespace ovir::fast
