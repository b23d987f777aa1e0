#include "fast/kernels/product/compressed.hpp"

#include <cstdint>

#include "fast/isa/narrow.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kFew = 6;              // rows of the left operand for each of which the codes are read again
constexpr i64 kAtOnce = 4;           // rows of codes that share what they read of the left operand
constexpr double kCodesByTime = 16;  // that are multiplied in a nanosecond, roughly

/// Floats of a chunk's own memory: rows as they come, and the panel that they become.
i64 chunk_size(const Codes& b) { return 2 * kColumns * round_up(b.columns, kBlock); }

/// What belongs to the first codes of all bytes, then what belongs to the second.
void part_pairs(const float* x, i64 n, float* y) {
  for (i64 i = 0; i < n / 2; ++i) {
    y[i] = x[2 * i];
    y[n / 2 + i] = x[2 * i + 1];
  }
}

/// Floats that a row of the left operand takes as digits.
i64 digits_size(const CodeRows& w) {
  const auto blocks = CodeBlocks(w).count;
  return round_up(blocks * Digits::block_size(w) / 4 + blocks + w.groups, kBlock);
}

Digits digits_at(const CodeRows& w, float* memory) {
  const auto blocks = CodeBlocks(w).count;
  float* steps = memory + blocks * Digits::block_size(w) / 4;
  return {reinterpret_cast<std::int8_t*>(memory), steps, steps + blocks};
}

/// Whether all rows of the left operand are now in `scratch` as digits.
bool write_digits(const CodeRows& w, const float* a, i64 m, float* scratch) {
  const auto& table = narrow_isa();
  if (!table.to_digits || !Digits::fit(w)) return false;
  for (i64 i = 0; i < m; ++i)
    if (!table.to_digits(w, a + i * w.groups * w.group, digits_at(w, scratch + i * digits_size(w)))) return false;
  return true;
}

void few(const Codes& b, const float* a, float* c, i64 m, const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  const auto& table = isa();
  const auto& w = b.first;
  const float* x = a;
  const bool by_digits = write_digits(w, a, m, scratch);
  if (!by_digits && w.bits == 4) {
    for (i64 i = 0; i < m; ++i) part_pairs(a + i * b.columns, b.columns, scratch + i * b.columns);
    x = scratch;
  }
  const auto dots = [&](i64 i, i64 row, i64 rows) {
    const auto codes = w.from(row);
    float* y = c + i * b.rows + row;
    if (by_digits) narrow_isa().dot_digits(codes, rows, digits_at(w, scratch + i * digits_size(w)), y);
    else table.dot_codes(codes, rows, x + i * b.columns, y);
  };
  const auto cost = static_cast<double>(m * kAtOnce * b.columns) / kCodesByTime;
  parallel_ranges(pool, ceil_div(b.rows, kAtOnce), cost, [&](i64 begin, i64 end) {
    const auto first = begin * kAtOnce, last = std::min(b.rows, end * kAtOnce);
    // Codes are read again for each row of the left operand from the first-level cache.
    const auto step = m == 1 ? last - first : kAtOnce;
    for (auto row = first; row < last; row += step)
      for (i64 i = 0; i < m; ++i) dots(i, row, std::min(step, last - row));
    for (i64 i = 0; i < m; ++i) {
      float* y = c + i * b.rows + first;
      finish_row(table, epilogue, first, 1, y, epilogue.residual ? epilogue.residual + i * b.rows + first : nullptr, y,
                 last - first);
    }
  });
}

}  // namespace

i64 compressed_scratch_size(const Codes& b, i64 m, int threads) {
  return m <= kFew ? m * std::max(b.columns, digits_size(b.first)) : threads * chunk_size(b);
}

void compressed_product(const Codes& b, const float* a, float* c, i64 m, const Epilogue& epilogue, float* scratch,
                        ThreadPool& pool) {
  if (m == 0 || b.rows == 0) return;
  if (m <= kFew) return few(b, a, c, m, epilogue, scratch, pool);
  const auto& table = isa();
  Slots slots(scratch, chunk_size(b), slots_for(pool));
  parallel(pool, ceil_div(b.rows, kColumns), [&](i64 panel) {
    const Slots::Lease room(slots);
    const auto first = panel * kColumns, count = std::min(kColumns, b.rows - first);
    float *rows = room.data(), *packed = rows + kColumns * round_up(b.columns, kBlock);
    for (i64 i = 0; i < count; ++i) table.decode(b.first.from(first + i), rows + i * b.columns);
    pack_panels(rows, 1, b.columns, b.columns, count, 0, 1, packed);
    Epilogue own = epilogue;
    if (own.bias) own.bias += first;
    if (own.slopes) own.slopes += first;
    if (own.residual) own.residual += first;
    product_alone({packed, b.columns, count}, a, b.columns, c + first, b.rows, m, own);
  });
}

template <class Index>
void compressed_rows(const Codes& b, const Index* index, i64 count, float* y, ThreadPool& pool) {
  const auto& table = isa();
  parallel_ranges(pool, count, static_cast<double>(b.columns) / 4, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto row = index[i] < 0 ? index[i] + b.rows : static_cast<i64>(index[i]);
      if (0 <= row && row < b.rows) table.decode(b.first.from(row), y + i * b.columns);
      else std::fill_n(y + i * b.columns, b.columns, 0.0f);
    }
  });
}

template void compressed_rows(const Codes&, const i64*, i64, float*, ThreadPool&);
template void compressed_rows(const Codes&, const std::int32_t*, i64, float*, ThreadPool&);

}  // namespace ovir::fast
