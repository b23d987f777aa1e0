// What the machine can do at most, measured: what kernels are held against.
#pragma once
#include "plan/runtime.hpp"

namespace ovir::fast {

struct Peak {
  double flops = 0;  ///< f32 operations a second on all threads, a multiplication and an addition being two
  double bytes = 0;  ///< bytes a second read from memory by all threads
};

/// Takes about 50 ms.
Peak measure_peak(Runtime& runtime);

}  // namespace ovir::fast
