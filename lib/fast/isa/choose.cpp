#include "fast/isa/table.hpp"

namespace ovir::fast {

const IsaTable& isa() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return kAvx512Table;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kAvx2Table;
#endif
  return kBaseTable;
}

}  // namespace ovir::fast
