#include "fast/kernels/product/once.hpp"

#include "fast/kernels/product/dots.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kFewRows = 8;           // so few are multiplied by rows as they were read
constexpr i64 kRowFloats = 32 << 10;  // of the matrix, read at once for them
constexpr i64 kManyPanels = 16;       // so many share out the work; fewer are packed first, and rows shared out as well

i64 rows_at_once(i64 k) { return std::max<i64>(1, kRowFloats / k); }
i64 panel_room(i64 k) { return round_up(kColumns * k, kBlock); }
i64 room_floats(i64 m, i64 k) { return m <= kFewRows ? round_up(rows_at_once(k) * k, kBlock) : panel_room(k); }
bool packs_first(i64 n) { return ceil_div(n, kColumns) < kManyPanels; }

void few(const Weights& b, const float* a, float* c, i64 m, i64 n, i64 k, const Epilogue& epilogue, float* scratch,
         ThreadPool& pool) {
  const auto together = rows_at_once(k);
  Slots rooms(scratch, room_floats(m, k), slots_for(pool));
  parallel_ranges(pool, n, 10 + static_cast<double>((m + 2) * k) / 8, [&](i64 begin, i64 end) {
    const Slots::Lease room(rooms);
    for (auto j = begin; j < end; j += together) {
      const auto last = std::min(end, j + together);
      columns_of_dots(a, b.get(j * k, (last - j) * k, room.data()), c, m, n, k, j, last, epilogue);
    }
  });
}

/// A panel of b[n][k], and how many columns it has.
i64 pack(const Weights& b, i64 n, i64 k, i64 panel, float* room, float* to) {
  const auto first = panel * kColumns, count = std::min(kColumns, n - first);
  pack_panels(b.get(first * k, count * k, room), 1, k, k, count, 0, 1, to);
  return count;
}
/// `memory` has a panel_room() for each thread.
void pack_all(const Weights& b, i64 n, i64 k, float* memory, float* to, ThreadPool& pool) {
  Slots rooms(memory, panel_room(k), slots_for(pool));
  parallel_ranges(pool, ceil_div(n, kColumns), static_cast<double>(k * kColumns) / 3, [&](i64 begin, i64 end) {
    const Slots::Lease room(rooms);
    for (auto panel = begin; panel < end; ++panel) pack(b, n, k, panel, room.data(), to + panel * k * kColumns);
  });
}

}  // namespace

void pack_panels_once(const Weights& b, i64 n, i64 k, float* to, ThreadPool& pool) {
  const auto memory = Buffer::unwritten(slots_for(pool) * panel_room(k));
  pack_all(b, n, k, memory.data(), to, pool);
}

i64 product_once_scratch_size(i64 m, i64 n, i64 k, int threads) {
  if (m <= kFewRows) return threads * room_floats(m, k);
  const auto packed = packs_first(n) ? threads * room_floats(m, k) + panels_size(k, n)
                                     : threads * (room_floats(m, k) + panels_size(k, kColumns));
  return spread_rows_size(m, n, k) + packed;
}

void product_once(const Weights& b, const float* a, float* c, i64 m, i64 n, i64 k, const Epilogue& epilogue,
                  float* scratch, ThreadPool& pool) {
  if (m == 0 || n == 0) return;
  if (m <= kFewRows) return few(b, a, c, m, n, k, epilogue, scratch, pool);
  const auto rows = spread_rows(a, m, n, k, scratch, pool);
  scratch += spread_rows_size(m, n, k);
  const auto read = room_floats(m, k);
  if (packs_first(n)) {
    float* const packed = scratch + slots_for(pool) * read;
    pack_all(b, n, k, scratch, packed, pool);
    return product({packed, k, n}, rows.data, rows.apart, c, n, m, epilogue, pool);
  }
  Slots rooms(scratch, read + panels_size(k, kColumns), slots_for(pool));
  parallel(pool, ceil_div(n, kColumns), [&](i64 panel) {
    const Slots::Lease room(rooms);
    float* const packed = room.data() + read;
    const auto count = pack(b, n, k, panel, room.data(), packed);
    const auto first = panel * kColumns;
    product_alone({packed, k, count}, rows.data, rows.apart, c + first, n, m, epilogue.from(0, first));
  });
}

}  // namespace ovir::fast
