// Parts of a tensor along an axis, brought into the whole or taken out of it. Bytes that lie in place already stay.
#pragma once
#include "base/int.hpp"
#include "tensor/view.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Elements are whole bytes: neither packed, nor strings, nor of unknown type.
bool is_bytes(ElementType type);

/// How plain tensors lie beside each other along `axis`: `outer` runs, of so many bytes in each.
i64 outer_of(const View& v, i64 axis);
i64 run_bytes(const View& v, i64 axis);

/// `outer` runs of `run` bytes, whose begins lie `from_stride` and `to_stride` bytes apart.
void copy_runs(const std::byte* from, i64 from_stride, std::byte* to, i64 to_stride, i64 run, i64 outer,
               ThreadPool& pool);

/// `count` blocks of channels of every batch, from block `first` of one f32 tensor to block `to_first` of another of
/// the same spatial dims. Both have whole blocks of channels; either may be plain.
void copy_blocks(const View& from, i64 first, const View& to, i64 to_first, i64 count, ThreadPool& pool);

/// Bytes before channel `block`·16 in a tensor of batch 1, in either layout.
i64 bytes_before(const View& v, i64 block);

}  // namespace ovir::fast
