#include <atomic>

#include "fast/isa/narrow.hpp"
#include "fast/isa/table.hpp"

namespace ovir::fast {
namespace {

/// The loops of an instruction set; null where this machine cannot run them.
const IsaTable* table_of(Isa level) {
#if defined(__x86_64__)
  const bool avx512 = __builtin_cpu_supports("avx512f");
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (level == Isa::avx512) return avx512 ? &kAvx512Table : nullptr;
  if (level == Isa::avx2) return avx2 ? &kAvx2Table : nullptr;
  if (level == Isa::best && avx512) return &kAvx512Table;
  if (level == Isa::best && avx2) return &kAvx2Table;
#else
  if (level == Isa::avx512 || level == Isa::avx2) return nullptr;
#endif
  return &kBaseTable;
}

std::atomic<const IsaTable*>& chosen() {
  static std::atomic<const IsaTable*> table{table_of(Isa::best)};
  return table;
}

}  // namespace

const IsaTable& isa() { return *chosen().load(std::memory_order_relaxed); }

bool force_isa(Isa level) {
  const auto* table = table_of(level);
  if (table) chosen().store(table, std::memory_order_relaxed);
  return table;
}

const NarrowTable& narrow_isa() {
#if defined(__x86_64__)
  static const bool has_dots = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                               __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni");
  if (&isa() != &kBaseTable) return &isa() == &kAvx512Table && has_dots ? kNarrowAvx512Table : kNarrowAvx2Table;
#endif
  return kNarrowBaseTable;
}

}  // namespace ovir::fast
