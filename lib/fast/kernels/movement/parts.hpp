// Parts of a tensor along an axis, brought into the whole or taken out of it. Bytes that lie in place already stay.
#pragma once
#include <cstdint>
#include <span>

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

/// Short runs of each of `parts`, one after the other, as a row of `to`, along `axis`.
void join_runs(std::span<const View> parts, i64 axis, const View& to, ThreadPool& pool);

/// The channels of `parts` one after the other, from `first` on, as those of `to`: of the same batch and spatial dims,
/// f32, each in either layout, or all blocks of bf16.
void join_channels(std::span<const View> parts, i64 first, const View& to, ThreadPool& pool);

/// Channels in u8 or bf16, which are blocks of 64 bytes: 64 or 32 channels.
struct NarrowChannels {
  const std::byte* data;
  i64 bytes;                ///< of the channels of a pixel
  std::uint8_t raised = 0;  ///< added to each of them, as levels
};
/// The same of them, as `bytes` of each pixel from byte `first` on; lanes beyond the last channel become 0.
void join_channels(std::span<const NarrowChannels> parts, i64 first, std::byte* to, i64 bytes, i64 batch, i64 plane,
                   ThreadPool& pool);

/// Whether channels [first, first + count) of a blocked tensor of `channels` are a blocked tensor as they lie.
bool are_blocks(ElementType type, i64 first, i64 count, i64 channels);

/// Bytes before channel `block`·16 in a tensor of batch 1, in either layout.
i64 bytes_before(const View& v, i64 block);

}  // namespace ovir::fast
