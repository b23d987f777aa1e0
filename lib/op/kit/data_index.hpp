// The fault of an index that lies outside of the axis along which it is.
#pragma once
#include "op/op_def.hpp"
#include "tensor/dim.hpp"

namespace ovir {

/// Of input `port`, along `axis` of "data". `from_end`: it may be negative.
[[noreturn]] void fail_index(const Version& version, int port, i64 index, i64 axis, const Dim& length, bool from_end);

}  // namespace ovir
