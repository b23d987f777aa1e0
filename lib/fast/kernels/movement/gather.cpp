#include "fast/kernels/movement/gather.hpp"

#include <cstring>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

template <class Index>
bool gather(const std::byte* table, i64 rows, i64 bytes, const Index* indices, i64 count, std::byte* y,
            ThreadPool& pool) {
  if (!std::all_of(indices, indices + count, [&](Index i) { return i >= -rows && i < rows; })) return false;
  parallel_ranges(pool, count, 10 + static_cast<double>(bytes) / 16, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto row = static_cast<i64>(indices[i]);
      std::memcpy(y + i * bytes, table + (row < 0 ? row + rows : row) * bytes, bytes);
    }
  });
  return true;
}

}  // namespace

bool gather_rows(const std::byte* table, i64 rows, i64 bytes, const i64* indices, i64 count, std::byte* y,
                 ThreadPool& pool) {
  return gather(table, rows, bytes, indices, count, y, pool);
}

bool gather_rows(const std::byte* table, i64 rows, i64 bytes, const std::int32_t* indices, i64 count, std::byte* y,
                 ThreadPool& pool) {
  return gather(table, rows, bytes, indices, count, y, pool);
}

}  // namespace ovir::fast
