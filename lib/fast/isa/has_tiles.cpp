#include "fast/isa/narrow.hpp"
#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ovir::fast {

bool has_tiles() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr unsigned kWanted = 1u << 22 | 1u << 24 | 1u << 25;  // BF16, TILE, INT8
  constexpr long kAskForPermission = 0x1023, kTileData = 18;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & kWanted) == kWanted &&
         syscall(SYS_arch_prctl, kAskForPermission, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace ovir::fast
