// E0003 in place of std::bad_alloc, so that every fault of a run is a Failure.
#pragma once
#include <new>
#include <string_view>

#include "diag/diagnostic.hpp"

namespace ovir {

/// There is no memory for `what`; where a budget refused it, not the system, its limit is named.
Failure out_of_memory(std::string_view what, const std::bad_alloc& why);

}  // namespace ovir
