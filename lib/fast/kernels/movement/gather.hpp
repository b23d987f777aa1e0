// Slices along an axis, picked by indices, and brought back by them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/int.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// y[b][o][i] = data[b][o][indices[b][i]]: `outer` times `length` slices of `slice` bytes a batch, `picks` indices.
struct Gathering {
  i64 batches, outer, length, picks, slice;
};
/// Negative indices count from the end; slices of those out of range are zeros.
void gather(const Gathering& what, const std::byte* data, const i64* indices, std::byte* y, ThreadPool& pool);
void gather(const Gathering& what, const std::byte* data, const std::int32_t* indices, std::byte* y, ThreadPool& pool);

/// y[b][i] = data[b][tuple i of indices]: of `picks` tuples a batch, whose numbers are along axes of these lengths;
/// slices of `slice` bytes. Indices may be negative; gives the first place of one that is out of range, or -1.
struct TupleGathering {
  i64 batches, picks, slice;
  std::span<const i64> lengths;
};
i64 gather_tuples(const TupleGathering& what, const std::byte* data, const i64* indices, std::byte* y,
                  ThreadPool& pool);
i64 gather_tuples(const TupleGathering& what, const std::byte* data, const std::int32_t* indices, std::byte* y,
                  ThreadPool& pool);

/// y[o][indices[i]] = updates[o][i], one after the other; indices are not negative, and inside.
void scatter(const Gathering& what, const std::byte* updates, const i64* indices, std::byte* y, ThreadPool& pool);
void scatter(const Gathering& what, const std::byte* updates, const std::int32_t* indices, std::byte* y,
             ThreadPool& pool);

}  // namespace ovir::fast
