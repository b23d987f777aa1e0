// The kernels of the fast tier that this build and this machine have.
#pragma once
#include <span>

#include "op/fast.hpp"

namespace ovir::fast {

/// In order of preference. The oneDNN module is opened at the first call; without it, or where it does not load,
/// its kernels are simply not in the list.
std::span<const FastKernel> kernels();

}  // namespace ovir::fast
