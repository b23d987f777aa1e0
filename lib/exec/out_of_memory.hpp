// E0003 in place of std::bad_alloc, so that every fault of a run is a Failure.
#pragma once
#include <new>
#include <string_view>

#include "diag/diagnostic.hpp"

namespace ovir {

/// There is no memory for `what`; where a budget refused it, not the system, its limit is named.
Failure out_of_memory(std::string_view what, const std::bad_alloc& why);

/// Whether a run went beyond its memory, time or work: no fault of the model's.
inline bool is_limit(const Failure& failure) {
  return failure.diagnostic.code == Code::E0003 || failure.diagnostic.code == Code::E0004;
}

}  // namespace ovir
