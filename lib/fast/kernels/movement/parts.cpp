#include "fast/kernels/movement/parts.hpp"

#include <algorithm>
#include <cstring>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

i64 plane_of(const View& v) {
  i64 plane = 1;
  for (i64 i = 2; i < v.rank(); ++i) plane *= v.dim(i);
  return plane;
}

constexpr double kBytesPerNanosecond = 8;

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
  const auto cost = static_cast<double>(std::min(run, kPiece)) / kBytesPerNanosecond;
  parallel_ranges(pool, outer * pieces, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto row = i / pieces, first = i % pieces * kPiece;
      std::memcpy(to + row * to_stride + first, from + row * from_stride + first, std::min(kPiece, run - first));
    }
  });
}

void copy_blocks(const View& from, i64 first, const View& to, i64 to_first, i64 count, ThreadPool& pool) {
  const auto plane = plane_of(to), batch = to.dim(0), block = plane * kBlock;
  const auto from_blocks = from.dim(1) / kBlock, to_blocks = to.dim(1) / kBlock;
  const auto* source = from.as<const float>() + first * block;
  auto* target = to.as<float>() + to_first * block;
  if (source == target) return;
  const auto cost = static_cast<double>(block) * sizeof(float) / kBytesPerNanosecond;
  parallel_ranges(pool, batch * count, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto n = i / count, b = i % count;
      const auto* x = source + (n * from_blocks + b) * block;
      auto* y = target + (n * to_blocks + b) * block;
      if (from.layout == to.layout) std::copy_n(x, block, y);
      else if (to.layout == Layout::blocked) isa().transpose(x, plane, y, kBlock, kBlock, plane);
      else isa().transpose(x, kBlock, y, plane, plane, kBlock);
    }
  });
}

i64 bytes_before(const View& v, i64 block) { return block * kBlock * plane_of(v) * byte_width(v.type); }

}  // namespace ovir::fast
