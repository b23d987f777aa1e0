#include "fast/kernels/movement/parts.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

i64 plane_of(const View& v) {
  i64 plane = 1;
  for (i64 i = 2; i < v.rank(); ++i) plane *= v.dim(i);
  return plane;
}

constexpr double kBytesPerNanosecond = 8;

template <i64 lanes>
void copy_lanes(const float* x, float* y, i64 pixels) {
  for (i64 p = 0; p < pixels; ++p) std::memcpy(y + p * kBlock, x + p * kBlock, lanes * sizeof(float));
}
/// `lanes` channels of pixels of blocks. Where they lie already they stay.
void copy_lanes(const float* x, float* y, i64 lanes, i64 pixels) {
  if (x == y) return;
  if (lanes == 4) return copy_lanes<4>(x, y, pixels);
  if (lanes == 8) return copy_lanes<8>(x, y, pixels);
  if (lanes == 12) return copy_lanes<12>(x, y, pixels);
  if (lanes == kBlock) return copy_lanes<kBlock>(x, y, pixels);
  for (i64 p = 0; p < pixels; ++p)
    for (i64 i = 0; i < lanes; ++i) y[p * kBlock + i] = x[p * kBlock + i];
}

/// `count` runs of a size that the compiler knows.
template <i64 bytes>
void copy_short(const std::byte* from, i64 from_stride, std::byte* to, i64 to_stride, i64 count) {
  for (i64 i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, bytes);
}
/// Runs of a size between `bytes` and twice as much: two copies that overlap.
template <i64 bytes>
void copy_up_to_twice(const std::byte* from, i64 from_stride, std::byte* to, i64 to_stride, i64 run, i64 count) {
  const auto last = run - bytes;
  for (i64 i = 0; i < count; ++i, from += from_stride, to += to_stride) {
    std::byte first_part[bytes], last_part[bytes];
    std::memcpy(first_part, from, bytes);
    std::memcpy(last_part, from + last, bytes);
    std::memcpy(to, first_part, bytes);
    std::memcpy(to + last, last_part, bytes);
  }
}
void copy_short(const std::byte* from, i64 from_stride, std::byte* to, i64 to_stride, i64 run, i64 count) {
  switch (run) {
    case 1: return copy_short<1>(from, from_stride, to, to_stride, count);
    case 2: return copy_short<2>(from, from_stride, to, to_stride, count);
    case 4: return copy_short<4>(from, from_stride, to, to_stride, count);
    case 8: return copy_short<8>(from, from_stride, to, to_stride, count);
    case 12: return copy_short<12>(from, from_stride, to, to_stride, count);
    case 16: return copy_short<16>(from, from_stride, to, to_stride, count);
    case 32: return copy_short<32>(from, from_stride, to, to_stride, count);
    case 64: return copy_short<64>(from, from_stride, to, to_stride, count);
    default: break;
  }
  if (run > 16 && run < 32) return copy_up_to_twice<16>(from, from_stride, to, to_stride, run, count);
  if (run > 32 && run < 64) return copy_up_to_twice<32>(from, from_stride, to, to_stride, run, count);
  for (i64 i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, run);
}

}  // namespace

bool is_bytes(ElementType type) {
  return type != ElementType::dynamic && type != ElementType::string && bit_width(type) >= 8;
}

i64 outer_of(const View& v, i64 axis) {
  i64 outer = 1;
  for (i64 i = 0; i < axis; ++i) outer *= v.dim(i);
  return outer;
}

i64 run_bytes(const View& v, i64 axis) {
  i64 run = byte_width(v.type);
  for (i64 i = axis; i < v.rank(); ++i) run *= v.dim(i);
  return run;
}

void copy_runs(const std::byte* from, i64 from_stride, std::byte* to, i64 to_stride, i64 run, i64 outer,
               ThreadPool& pool) {
  if (run == 0 || outer == 0 || from == to) return;
  // A long run is shared out, too.
  constexpr i64 kPiece = 1 << 16;
  const auto pieces = ceil_div(run, kPiece);
  const auto cost = std::max(1.0, static_cast<double>(std::min(run, kPiece)) / kBytesPerNanosecond);
  parallel_ranges(pool, outer * pieces, cost, [&](i64 begin, i64 end) {
    if (pieces == 1)
      return copy_short(from + begin * from_stride, from_stride, to + begin * to_stride, to_stride, run, end - begin);
    for (auto i = begin; i < end; ++i) {
      const auto row = i / pieces, first = i % pieces * kPiece;
      std::memcpy(to + row * to_stride + first, from + row * from_stride + first, std::min(kPiece, run - first));
    }
  });
}

void join_runs(std::span<const View> parts, i64 axis, const View& to, ThreadPool& pool) {
  constexpr i64 kBytes = 16 << 10;  // of rows that stay in the first-level cache while all parts fill them
  const auto row = run_bytes(to, axis), outer = outer_of(to, axis);
  if (row == 0 || outer == 0) return;
  const auto rows = std::max<i64>(kBytes / row, 1), pieces = ceil_div(outer, rows);
  parallel_ranges(pool, pieces, static_cast<double>(rows * row) / kBytesPerNanosecond, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto first = i * rows, count = std::min(rows, outer - first);
      auto* at = to.data + first * row;
      for (const auto& part : parts) {
        const auto run = run_bytes(part, axis);
        copy_short(part.data + first * run, run, at, row, run, count);
        at += run;
      }
    }
  });
}

bool are_blocks(ElementType type, i64 first, i64 count, i64 channels) {
  const auto block = type == ElementType::u8 ? 4 * kBlock : (type == ElementType::bf16 ? 2 * kBlock : kBlock);
  return first % block == 0 && (count % block == 0 || first + count == channels);
}

namespace {

constexpr i64 kBlockBytes = 4 * kBlock;

template <i64 bytes>
void copy_bytes(const std::byte* x, std::byte* y, i64 pixels) {
  for (i64 p = 0; p < pixels; ++p) std::memcpy(y + p * kBlockBytes, x + p * kBlockBytes, bytes);
}
void copy_bytes(const std::byte* x, std::byte* y, i64 bytes, i64 pixels) {
  if (x == y) return;
  if (bytes == kBlockBytes) std::memcpy(y, x, pixels * kBlockBytes);
  else if (bytes == 48) copy_bytes<48>(x, y, pixels);
  else if (bytes == 32) copy_bytes<32>(x, y, pixels);
  else if (bytes == 16) copy_bytes<16>(x, y, pixels);
  else if (bytes == 8) copy_bytes<8>(x, y, pixels);
  else if (bytes > 32) copy_up_to_twice<32>(x, kBlockBytes, y, kBlockBytes, bytes, pixels);
  else if (bytes > 16) copy_up_to_twice<16>(x, kBlockBytes, y, kBlockBytes, bytes, pixels);
  else if (bytes > 8) copy_up_to_twice<8>(x, kBlockBytes, y, kBlockBytes, bytes, pixels);
  else
    for (i64 p = 0; p < pixels; ++p) std::copy_n(x + p * kBlockBytes, bytes, y + p * kBlockBytes);
}

template <i64 bytes>
void raise_bytes(const std::uint8_t* x, std::uint8_t* y, std::uint8_t by, i64 pixels) {
  for (i64 p = 0; p < pixels; ++p)
    for (i64 i = 0; i < bytes; ++i) y[p * kBlockBytes + i] = static_cast<std::uint8_t>(x[p * kBlockBytes + i] + by);
}
/// The same of levels, to each of which `by` is added.
void raise_bytes(const std::byte* from, std::byte* to, std::uint8_t by, i64 bytes, i64 pixels) {
  const auto* x = reinterpret_cast<const std::uint8_t*>(from);
  auto* y = reinterpret_cast<std::uint8_t*>(to);
  if (bytes == kBlockBytes) return raise_bytes<kBlockBytes>(x, y, by, pixels);
  if (bytes == 32) return raise_bytes<32>(x, y, by, pixels);
  for (i64 i = 0; i < bytes; i += 8) {
    if (i + 8 <= bytes) raise_bytes<8>(x + i, y + i, by, pixels);
    else
      for (auto rest = i; rest < bytes; ++rest) raise_bytes<1>(x + rest, y + rest, by, pixels);
  }
}

/// `channels_of`: those that a part is.
template <class Part, class ChannelsOf>
void join_bytes(std::span<const Part> parts, ChannelsOf channels_of, i64 first, std::byte* to, i64 bytes, i64 batch,
                i64 plane, ThreadPool& pool) {
  constexpr i64 kPixels = 256;
  const auto blocks = ceil_div(bytes, kBlockBytes), pieces = ceil_div(plane, kPixels);
  const auto cost = static_cast<double>(std::min(plane, kPixels) * kBlockBytes) / kBytesPerNanosecond;
  parallel_ranges(pool, batch * blocks * pieces, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto n = i / (blocks * pieces), block = i / pieces % blocks, pixel = i % pieces * kPixels;
      const auto pixels = std::min(kPixels, plane - pixel), lanes = std::min(kBlockBytes, bytes - block * kBlockBytes);
      auto* y = to + ((n * blocks + block) * plane + pixel) * kBlockBytes;
      for (i64 lane = 0; lane < lanes;) {
        auto c = first + block * kBlockBytes + lane;
        auto at = parts.begin();
        auto part = channels_of(*at);
        for (; c >= part.bytes; part = channels_of(*++at)) c -= part.bytes;
        const auto some = std::min({lanes - lane, part.bytes - c, kBlockBytes - c % kBlockBytes});
        const auto from = (n * ceil_div(part.bytes, kBlockBytes) + c / kBlockBytes) * plane + pixel;
        const auto* x = part.data + from * kBlockBytes + c % kBlockBytes;
        if (part.raised > 0) raise_bytes(x, y + lane, part.raised, some, pixels);
        else copy_bytes(x, y + lane, some, pixels);
        lane += some;
      }
      if (lanes < kBlockBytes)
        for (i64 p = 0; p < pixels; ++p) std::fill_n(y + p * kBlockBytes + lanes, kBlockBytes - lanes, std::byte{0});
    }
  });
}

}  // namespace

void join_channels(std::span<const NarrowChannels> parts, i64 first, std::byte* to, i64 bytes, i64 batch, i64 plane,
                   ThreadPool& pool) {
  join_bytes(parts, std::identity(), first, to, bytes, batch, plane, pool);
}

void join_channels(std::span<const View> parts, i64 first, const View& to, ThreadPool& pool) {
  if (to.type == ElementType::bf16) {
    const auto channels_of = [](const View& v) { return NarrowChannels{v.data, 2 * v.dim(1)}; };
    return join_bytes(parts, channels_of, 2 * first, to.data, 2 * to.dim(1), to.dim(0), plane_of(to), pool);
  }
  constexpr i64 kPixels = 256;  // whose lines stay in the first-level cache while others fill the rest of them
  const auto plane = plane_of(to), channels = to.dim(1), blocks = ceil_div(channels, kBlock);
  const auto pieces = ceil_div(plane, kPixels);
  const bool blocked = to.layout == Layout::blocked;
  const auto cost = static_cast<double>(std::min(plane, kPixels) * kBlock * byte_width(to.type)) / kBytesPerNanosecond;
  parallel_ranges(pool, to.dim(0) * blocks * pieces, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto n = i / (blocks * pieces), block = i / pieces % blocks, pixel = i % pieces * kPixels;
      const auto pixels = std::min(kPixels, plane - pixel), lanes = std::min(kBlock, channels - block * kBlock);
      auto* y = to.as<float>() + (blocked ? ((n * blocks + block) * plane + pixel) * kBlock
                                          : (n * channels + block * kBlock) * plane + pixel);
      for (i64 lane = 0; lane < lanes;) {
        auto c = first + block * kBlock + lane;
        auto part = parts.begin();
        for (; c >= part->dim(1); ++part) c -= part->dim(1);
        auto some = std::min(lanes - lane, part->dim(1) - c);
        if (part->layout == Layout::blocked) {
          some = std::min(some, kBlock - c % kBlock);
          const auto from_blocks = ceil_div(part->dim(1), kBlock);
          const auto* x =
              part->as<const float>() + ((n * from_blocks + c / kBlock) * plane + pixel) * kBlock + c % kBlock;
          if (blocked) copy_lanes(x, y + lane, some, pixels);
          else isa().transpose(x, kBlock, y + lane * plane, plane, pixels, some);
        } else {
          const auto* x = part->as<const float>() + (n * part->dim(1) + c) * plane + pixel;
          if (blocked) isa().transpose(x, plane, y + lane, kBlock, some, pixels);
          else
            for (i64 row = 0; row < some; ++row) std::copy_n(x + row * plane, pixels, y + (lane + row) * plane);
        }
        lane += some;
      }
      if (blocked && lanes < kBlock)
        for (i64 p = 0; p < pixels; ++p) std::fill_n(y + p * kBlock + lanes, kBlock - lanes, 0.0F);
    }
  });
}

i64 bytes_before(const View& v, i64 block) { return block * kBlock * plane_of(v) * byte_width(v.type); }

}  // namespace ovir::fast
