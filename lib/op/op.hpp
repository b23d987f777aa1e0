// All that an operation's file includes.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "op/bounds.hpp"
#include "op/eval_context.hpp"
#include "op/infer_context.hpp"
#include "op/op_def.hpp"
#include "tensor/dispatch.hpp"
#include "tensor/walk.hpp"

namespace ovir {

/// The number of elements of a scalar or vector as a Dim.
inline Dim axis_count(const PartialShape& s) { return s.has_rank() ? (s.rank() == 0 ? Dim(1) : s[0]) : Dim(); }

}  // namespace ovir
