#include "fast/kernels/product/compressed.hpp"

#include <atomic>
#include <cmath>
#include <cstdint>

#include "fast/isa/narrow.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kFew = 16;             // rows of the left operand that codes are multiplied by as they come
constexpr i64 kFewDigits = 2;        // of these, where digits take less time than to decompress codes once for all
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

/// The sum of each group of x. False where products by codes of such numbers might not be finite.
bool sum_groups(const CodeRows& w, const float* x, float* sums) {
  constexpr float kMost = 1e35f;
  for (i64 g = 0; g < w.groups; ++g, x += w.group) {
    float lanes[16] = {}, magnitudes[16] = {}, sum = 0, magnitude = 0;
    for (i64 i = 0; i < w.group; i += 16)
      for (i64 l = 0; l < 16; ++l) {
        lanes[l] += x[i + l];
        magnitudes[l] += std::abs(x[i + l]);
      }
    for (i64 l = 0; l < 16; ++l) {
      sum += lanes[l];
      magnitude += magnitudes[l];
    }
    if (!(magnitude < kMost)) return false;
    sums[g] = sum;
  }
  return true;
}

/// Floats that a row of the left operand takes: as digits, or in the order of the codes, with its sums.
i64 row_size(const CodeRows& w) {
  const auto blocks = CodeBlocks(w).count;
  const auto digits = blocks * Digits::block_size(w) / 4 + blocks + w.groups;
  return round_up(std::max(digits, w.groups * w.group + w.groups), kBlock);
}

Digits digits_at(const CodeRows& w, float* memory) {
  const auto blocks = CodeBlocks(w).count;
  float* steps = memory + blocks * Digits::block_size(w) / 4;
  return {reinterpret_cast<std::int8_t*>(memory), steps, steps + blocks};
}

/// Whether these rows are now in `scratch` as digits.
bool write_digits(const CodeRows& w, const float* a, i64 rows, float* scratch, ThreadPool& pool) {
  const auto& table = narrow_isa();
  if (!table.to_digits || !Digits::fit(w)) return false;
  const auto columns = w.groups * w.group;
  std::atomic<bool> all{true};
  parallel_ranges(pool, rows, static_cast<double>(columns), [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i)
      if (!table.to_digits(w, a + i * columns, digits_at(w, scratch + i * row_size(w)))) all = false;
  });
  return all;
}

void few(const Codes& b, const BatchedProduct& p, const float* a, float* c, const Epilogue& epilogue, float* scratch,
         ThreadPool& pool) {
  const auto& table = isa();
  const auto& w = b.first;
  const auto left_rows = p.a_matrices * p.m;
  const auto memory = [&](i64 row) { return scratch + row * row_size(w); };
  const bool by_digits = p.m <= kFewDigits && write_digits(w, a, left_rows, scratch, pool);
  bool by_sums = w.zero && !by_digits;
  for (i64 i = 0; i < left_rows && !by_digits; ++i) {
    if (w.bits == 4) part_pairs(a + i * b.columns, b.columns, memory(i));
    by_sums = by_sums && sum_groups(w, a + i * b.columns, memory(i) + b.columns);
  }
  const LeftRows all{.x = w.bits == 4 ? scratch : a,
                     .sums = by_sums ? scratch + b.columns : nullptr,
                     .row = w.bits == 4 ? row_size(w) : b.columns,
                     .sums_row = row_size(w),
                     .count = left_rows};
  const bool together = p.m > 1 && !by_digits && (by_sums || !w.zero);
  const auto dots = [&](i64 product, i64 first, i64 last) {
    const auto left = all.from(p.a[product] * p.m, p.m);
    const auto codes = w.from(p.b[product] * b.rows + first);
    float* y = c + product * p.m * b.rows + first;
    if (together) table.dot_codes_by_rows(codes, last - first, left, y, b.rows);
    for (i64 i = 0; i < p.m && !together; ++i) {
      const auto row = p.a[product] * p.m + i;
      if (by_digits) narrow_isa().dot_digits(codes, last - first, digits_at(w, memory(row)), y + i * b.rows);
      else table.dot_codes(codes, last - first, left.from(i, 1), y + i * b.rows);
    }
    for (i64 i = 0; i < p.m; ++i) {
      const auto at = (product * p.m + i) * b.rows + first;
      finish_row(table, epilogue, first, 1, c + at, epilogue.residual ? epilogue.residual + at : nullptr, c + at,
                 last - first);
    }
  };
  const auto quads = ceil_div(b.rows, kAtOnce);
  const auto cost = static_cast<double>(ceil_div(p.m, 3) * kAtOnce * b.columns) / kCodesByTime;
  parallel_ranges(pool, p.count() * quads, cost, [&](i64 begin, i64 end) {
    while (begin < end) {
      const auto quad = begin % quads, until = std::min(quads, quad + end - begin);
      dots(begin / quads, quad * kAtOnce, std::min(b.rows, until * kAtOnce));
      begin += until - quad;
    }
  });
}

}  // namespace

i64 compressed_scratch_size(const Codes& b, const BatchedProduct& p, int threads) {
  return p.m <= kFew ? p.a_matrices * p.m * row_size(b.first) : threads * chunk_size(b);
}

void compressed_product(const Codes& b, const BatchedProduct& p, const float* a, float* c, const Epilogue& epilogue,
                        float* scratch, ThreadPool& pool) {
  if (p.m == 0 || b.rows == 0) return;
  if (p.m <= kFew) return few(b, p, a, c, epilogue, scratch, pool);
  const auto& table = isa();
  Slots slots(scratch, chunk_size(b), slots_for(pool));
  const auto panels = ceil_div(b.rows, kColumns);
  parallel(pool, p.count() * panels, [&](i64 chunk) {
    const Slots::Lease room(slots);
    const auto product = chunk / panels, first = chunk % panels * kColumns, count = std::min(kColumns, b.rows - first);
    const auto row = p.b[product] * b.rows + first;
    auto matrix = b.first.from(row);
    float *rows = room.data(), *packed = rows + kColumns * round_up(b.columns, kBlock);
    if (b.file) {
      auto* codes = reinterpret_cast<std::byte*>(packed);
      b.file->read_bytes(row * b.first.row, std::span(codes, count * b.first.row));
      matrix.codes = reinterpret_cast<const unsigned char*>(codes);
    }
    for (i64 i = 0; i < count; ++i) table.decode(matrix.from(i), rows + i * b.columns);
    pack_panels(rows, 1, b.columns, b.columns, count, 0, 1, packed);
    const auto at = product * p.m * b.rows;
    product_alone({packed, b.columns, count}, a + p.a[product] * p.m * b.columns, b.columns, c + at + first, b.rows,
                  p.m, epilogue.from(at, first));
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
