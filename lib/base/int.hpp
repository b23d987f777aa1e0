// The integer of lengths, axes, offsets and counts.
#pragma once
#include <cstdint>

namespace ovir {

using i64 = std::int64_t;

}  // namespace ovir
