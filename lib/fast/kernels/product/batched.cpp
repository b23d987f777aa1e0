#include "fast/kernels/product/batched.hpp"

#include <algorithm>

#include "fast/kernels/chunks.hpp"
#include "fast/kernels/product/dots.hpp"
#include "fast/kernels/product/packed.hpp"
#include "op/shared_attrs.hpp"
#include "tensor/walk.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kFewRows = 8, kFewColumns = 4;  // so few are dot products, without packing
constexpr i64 kFewSums = 6;                   // so few rows are sums of rows
constexpr i64 kSmall = i64{1} << 20;          // multiplications of a product that one thread takes by itself

bool is_dots(const BatchedProduct& p) { return p.b_transposed && (p.m <= kFewRows || p.n <= kFewColumns); }

/// Products and panels are too few for all threads: everything is packed first, and rows are shared out as well.
bool packs_first(const BatchedProduct& p, int threads) {
  const auto parts = p.count() * ceil_div(p.n, kColumns);
  return parts % threads != 0 && parts < 4 * threads;
}

i64 transposed_size(const BatchedProduct& p) { return p.a_transposed ? round_up(p.a_matrices * p.m * p.k, kBlock) : 0; }

/// The left matrices by rows: in `scratch` where they lie otherwise.
const float* rows_of_a(const BatchedProduct& p, const float* a, float* scratch, ThreadPool& pool) {
  if (!p.a_transposed) return a;
  const auto parts = ceil_div(p.m, kColumns);
  parallel_ranges(pool, p.a_matrices * parts, static_cast<double>(kColumns * p.k) / 2, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto matrix = i / parts * p.m * p.k, row = i % parts * kColumns;
      isa().transpose(a + matrix + row, p.m, scratch + matrix + row * p.k, p.k, p.k, std::min(kColumns, p.m - row));
    }
  });
  return scratch;
}

/// Floats of a right matrix in panels.
i64 packed_matrix_size(const BatchedProduct& p) { return round_up(panels_size(p.k, p.n), kBlock); }
/// The one that product i multiplies by.
Panels packed_matrix(const BatchedProduct& p, const float* panels, i64 i) {
  return {panels + p.b[i] * packed_matrix_size(p), p.k, p.n};
}
/// Each product by all threads.
void one_by_one(const BatchedProduct& p, const float* a, const float* panels, float* c, const Epilogue& epilogue,
                ThreadPool& pool) {
  for (i64 i = 0; i < p.count(); ++i)
    product(packed_matrix(p, panels, i), a + p.a[i] * p.m * p.k, p.k, c + i * p.m * p.n, p.n, p.m,
            epilogue.from(i * p.m * p.n, 0), pool);
}

/// Of a panel, in ns.
double packing_cost(const BatchedProduct& p) { return static_cast<double>(p.k * kColumns) / 4; }

const float* matrix_of_b(const BatchedProduct& p, const float* b, i64 i) { return b + i * p.k * p.n; }

/// Columns [first, first + count) of a matrix of b, as panels.
void pack(const BatchedProduct& p, const float* b, i64 first, i64 count, float* to) {
  const auto panels = ceil_div(count, kColumns);
  if (p.b_transposed) pack_panels(b + first * p.k, 1, p.k, p.k, count, 0, panels, to);
  else pack_panels(b + first, p.n, 1, p.k, count, 0, panels, to);
}

void dots(const BatchedProduct& p, const float* a, const float* b, float* c, const Epilogue& epilogue,
          ThreadPool& pool) {
  const auto blocks = ceil_div(p.m, kFewRows), rows = std::min(p.m, kFewRows);
  parallel_ranges(pool, p.count() * blocks * p.n, 10 + static_cast<double>(rows * p.k) / 8, [&](i64 begin, i64 end) {
    while (begin < end) {
      const auto block = begin / p.n % blocks, i = begin / p.n / blocks, column = begin % p.n;
      const auto last = std::min(p.n, column + end - begin), row = block * kFewRows, first = i * p.m + row;
      columns_of_dots(a + (p.a[i] * p.m + row) * p.k, matrix_of_b(p, b, p.b[i]) + column * p.k, c + first * p.n,
                      std::min(kFewRows, p.m - row), p.n, p.k, column, last, epilogue.from(first * p.n, 0));
      begin += last - column;
    }
  });
}

/// Few rows on the left: rows of b are added up where they lie.
bool is_sums(const BatchedProduct& p) { return p.m <= kFewSums && !p.b_transposed; }

void sums(const BatchedProduct& p, const float* a, const float* b, float* c, const Epilogue& epilogue,
          ThreadPool& pool) {
  const auto& table = isa();
  constexpr i64 kAside = 512;  // columns whose sums, and as many of some rows, stay in the first-level cache
  constexpr i64 kTogether = 8;
  // Long runs of each row, but some strips for each thread: sums are the same however wide they are.
  const auto cost = static_cast<double>(p.k * p.n) / 16;
  const auto wanted = std::clamp<i64>(static_cast<i64>(std::min(cost / static_cast<double>(kChunkWork), 1e9)), 1,
                                      std::max<i64>(2 * pool.threads(), ceil_div(p.n, kAside)));
  const auto width = std::min(kAside, round_up(ceil_div(p.n, wanted), kBlock)), strips = ceil_div(p.n, width);
  parallel_ranges(pool, p.count() * strips, cost / static_cast<double>(strips), [&](i64 begin, i64 end) {
    alignas(64) float aside[kFewSums * kAside];
    for (auto at = begin; at < end; ++at) {
      const auto i = at / strips, column = at % strips * width, columns = std::min(width, p.n - column);
      const auto *left = a + p.a[i] * p.m * p.k, *right = matrix_of_b(p, b, p.b[i]) + column;
      for (i64 s = 0; s == 0 || s < p.k; s += kTogether) {
        const float* rows[kTogether];
        const auto count = std::min(kTogether, p.k - s);
        for (i64 r = 0; r < count; ++r) rows[r] = right + (s + r) * p.n;
        for (i64 row = 0; row < p.m; ++row)
          table.weighted_sum(left + row * p.k + s, rows, count, aside + row * kAside, columns, s == 0);
      }
      for (i64 row = 0; row < p.m; ++row) {
        const auto to = (i * p.m + row) * p.n + column;
        float* const sum = aside + row * kAside;  // until all of the epilogue has read the residual, which c may be
        finish_row(table, epilogue, column, 1, sum, epilogue.residual ? epilogue.residual + to : nullptr, sum, columns);
        std::copy_n(sum, columns, c + to);
      }
    }
  });
}

}  // namespace

BatchedProduct product_of(const MatMulAttrs& attrs, std::span<const i64> left, std::span<const i64> right,
                          std::span<const i64> out) {
  const bool row = left.size() == 1, column = right.size() == 1;  // a vector is a row on the left, a column right
  const Shape a(left.begin(), row ? left.begin() : left.end() - 2);
  const Shape b(right.begin(), column ? right.begin() : right.end() - 2);
  BatchedProduct p;
  p.a_transposed = attrs.transpose_a && !row;
  p.b_transposed = attrs.transpose_b || column;
  p.a_matrices = a.count();
  p.b_matrices = b.count();
  p.k = left[left.size() - (p.a_transposed ? 2 : 1)];
  p.m = row ? 1 : left[left.size() - (p.a_transposed ? 1 : 2)];
  p.n = column ? 1 : right[right.size() - (p.b_transposed ? 2 : 1)];
  // A matrix of one row or column is the same either way.
  if (p.m == 1 || p.k == 1) p.a_transposed = false;
  if (p.n == 1) p.b_transposed = true;
  if (p.b_matrices == 1 && !p.a_transposed) {  // the batch becomes rows
    p.m *= std::exchange(p.a_matrices, 1);
    p.a = p.b = {0};
    return p;
  }
  const Shape batch(out.begin(), out.end() - !row - !column);
  const auto a_strides = broadcast_strides(a, batch), b_strides = broadcast_strides(b, batch);
  for (IndexWalker at(batch); !at.done(); at.next()) {
    p.a.push_back(at.offset(a_strides));
    p.b.push_back(at.offset(b_strides));
  }
  for (auto axis = batch.rank(); axis-- > 0 && b_strides[axis] == 0;) p.together *= batch[axis];
  return p;
}

bool reads_panels(const BatchedProduct& p) { return !is_dots(p) && !is_sums(p); }

i64 packed_matrices_size(const BatchedProduct& p) { return p.b_matrices * packed_matrix_size(p); }

void pack_matrices(const BatchedProduct& p, const float* b, float* to, ThreadPool& pool) {
  const auto panels = ceil_div(p.n, kColumns);
  parallel_ranges(pool, p.b_matrices * panels, packing_cost(p), [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto first = i % panels * kColumns;
      pack(p, matrix_of_b(p, b, i / panels), first, std::min(kColumns, p.n - first),
           to + i / panels * packed_matrix_size(p) + first * p.k);
    }
  });
}

i64 packed_matrices_scratch_size(const BatchedProduct& p) { return transposed_size(p); }

void packed_matrices_product(const BatchedProduct& p, const float* a, const float* panels, float* c,
                             const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  a = rows_of_a(p, a, scratch, pool);
  // Many small products are shared out whole, large ones one after the other among all threads.
  if (p.m * p.n * p.k < kSmall && p.count() >= 2 * pool.threads()) {
    parallel_ranges(pool, p.count(), static_cast<double>(p.m * p.n * p.k) / 40, [&](i64 begin, i64 end) {
      for (auto i = begin; i < end; ++i)
        product_alone(packed_matrix(p, panels, i), a + p.a[i] * p.m * p.k, p.k, c + i * p.m * p.n, p.n, p.m,
                      epilogue.from(i * p.m * p.n, 0));
    });
    return;
  }
  one_by_one(p, a, panels, c, epilogue, pool);
}

i64 batched_product_scratch_size(const BatchedProduct& p, int threads) {
  if (!reads_panels(p)) return transposed_size(p);
  return transposed_size(p) +
         (packs_first(p, threads) ? packed_matrices_size(p) : threads * panels_size(p.k, kColumns));
}

void batched_product(const BatchedProduct& p, const float* a, const float* b, float* c, const Epilogue& epilogue,
                     float* scratch, ThreadPool& pool) {
  a = rows_of_a(p, a, scratch, pool);
  scratch += transposed_size(p);
  if (is_dots(p)) return dots(p, a, b, c, epilogue, pool);
  if (is_sums(p)) return sums(p, a, b, c, epilogue, pool);
  if (packs_first(p, pool.threads())) {
    pack_matrices(p, b, scratch, pool);
    return one_by_one(p, a, scratch, c, epilogue, pool);
  }
  const auto panels = ceil_div(p.n, kColumns);
  Slots rooms(scratch, panels_size(p.k, kColumns), slots_for(pool));
  const auto cost = static_cast<double>(p.m * p.k * kColumns) / 40 + packing_cost(p) / static_cast<double>(p.together);
  parallel_ranges(pool, p.count() * panels, cost, [&](i64 begin, i64 end) {
    const Slots::Lease room(rooms);
    for (auto at = begin; at < end; ++at) {
      const auto i = at / (panels * p.together) * p.together + at % p.together;
      const auto first = at / p.together % panels * kColumns, count = std::min(kColumns, p.n - first);
      if (at == begin || at % p.together == 0) pack(p, matrix_of_b(p, b, p.b[i]), first, count, room.data());
      product_alone({room.data(), p.k, count}, a + p.a[i] * p.m * p.k, p.k, c + i * p.m * p.n + first, p.n, p.m,
                    epilogue.from(i * p.m * p.n, first));
    }
  });
}

}  // namespace ovir::fast
