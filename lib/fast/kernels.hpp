// The kernels of the fast tier that this build and this machine have.
#pragma once
#include <span>

#include "op/fast.hpp"

namespace ovir::fast {

/// In order of preference. The oneDNN module is opened when the first node asks for it; without it, or where it does
/// not load, the reference kernels run.
std::span<const FastKernel> kernels();

}  // namespace ovir::fast
