#include <atomic>
#include <initializer_list>

#include "fast/isa/lines.hpp"
#include "fast/isa/narrow.hpp"
#include "fast/isa/table.hpp"

namespace ovir::fast {
namespace {

#if defined(__x86_64__)
bool has_vnni() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
}
bool has_dots() { return has_vnni() && __builtin_cpu_supports("avx512bf16"); }

bool runs(Isa level) {
  switch (level) {
    case Isa::amx: {
      static const bool tiles = has_dots() && has_tiles();
      return tiles;
    }
    case Isa::avx512: return __builtin_cpu_supports("avx512f");
    case Isa::avx2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    default: return true;
  }
}

Isa best() {
  for (const auto level : {Isa::amx, Isa::avx512, Isa::avx2})
    if (runs(level)) return level;
  return Isa::baseline;
}
#endif

struct Loops {
  const IsaTable* wide;
  const NarrowTable* narrow;
  const LineTable* lines;
};

/// The loops of an instruction set; null where this machine cannot run them.
const Loops* loops_of(Isa level) {
  static const Loops base{&kBaseTable, &kNarrowBaseTable, &kLinesBaseTable};
#if defined(__x86_64__)
  if (level == Isa::best) level = best();
  static const Loops avx2{&kAvx2Table, &kNarrowAvx2Table, &kLinesAvx2Table},
      amx{&kAvx512Table, &kNarrowAmxTable, &kLinesAvx2Table},
      avx512{&kAvx512Table,
             has_dots()   ? &kNarrowAvx512Table
             : has_vnni() ? &kNarrowVnniTable
                          : &kNarrowAvx2Table,
             &kLinesAvx2Table};
  if (!runs(level)) return nullptr;
  if (level == Isa::amx) return &amx;
  if (level == Isa::avx512) return &avx512;
  if (level == Isa::avx2) return &avx2;
#else
  if (level != Isa::best && level != Isa::baseline) return nullptr;
#endif
  return &base;
}

std::atomic<const Loops*>& chosen() {
  static std::atomic<const Loops*> loops{loops_of(Isa::best)};
  return loops;
}

}  // namespace

const IsaTable& isa() { return *chosen().load(std::memory_order_relaxed)->wide; }

const NarrowTable& narrow_isa() { return *chosen().load(std::memory_order_relaxed)->narrow; }

const LineTable& line_isa() { return *chosen().load(std::memory_order_relaxed)->lines; }

bool force_isa(Isa level) {
  const auto* loops = loops_of(level);
  if (loops) chosen().store(loops, std::memory_order_relaxed);
  return loops;
}

}  // namespace ovir::fast
