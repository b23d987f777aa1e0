// The list of operations that the build made from lib/ops.
#pragma once
#include <span>

#include "op/op_def.hpp"

namespace ovir::ops {

std::span<const OpDef* const> all();

}  // namespace ovir::ops
