#include "base/float_mode.hpp"

namespace ovir {

namespace {
#if defined(__x86_64__)
constexpr std::uint32_t kStatus = 0x3f, kFlushToZero = 0x8000;  // of MXCSR
#endif
}  // namespace

FloatMode FloatMode::of_this_thread() {
  FloatMode mode;
#if defined(__x86_64__)
  mode.control_ = __builtin_ia32_stmxcsr() & ~kStatus;
#endif
  return mode;
}

void FloatMode::use() const {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(control_ | (__builtin_ia32_stmxcsr() & kStatus));
#endif
}

FloatMode FloatMode::flushing() const {
  FloatMode mode = *this;
#if defined(__x86_64__)
  mode.control_ |= kFlushToZero;
#endif
  return mode;
}

}  // namespace ovir
