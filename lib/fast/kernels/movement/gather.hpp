// Rows of a table by index: embeddings.
#pragma once
#include <cstddef>

#include "base/int.hpp"
#include "fast/isa/table.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// y[i] = table[index(i)], rows of `bytes`. Indices from -rows on count from the end; false, and nothing is written, if
/// one is beyond the table.
bool gather_rows(const std::byte* table, i64 rows, i64 bytes, const i64* indices, i64 count, std::byte* y,
                 ThreadPool& pool);
bool gather_rows(const std::byte* table, i64 rows, i64 bytes, const std::int32_t* indices, i64 count, std::byte* y,
                 ThreadPool& pool);

}  // namespace ovir::fast
