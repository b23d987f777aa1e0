// Whether Winograd's stages are taken by chunks of tiles, for f32, bf16 and u8.
#pragma once
#include <algorithm>

#include "base/int.hpp"
#include "fast/isa/table.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {

/// The chunks of an image's tiles, of at most `most` each, which stay in the cache of a thread through all stages while
/// filters pass by that do not; 0 where the stages had better be shared. A tile and its sums by a panel take `each`
/// elements of 4 bytes; a plane has so many output pixels. What another thread has transformed takes long to read where
/// the two share no cache. Machines with AVX-512 have 1 MB for each.
inline i64 winograd_chunks(i64 images, i64 tiles, i64 pixels, i64 each, i64 most, int threads) {
  constexpr i64 kCached = 200 << 10, kFewest = 20, kPixels = 384;
  const auto fits = kCached / std::max<i64>(each, 1);
  if (isa().lanes != 16 || pixels < kPixels || fits < kFewest) return 0;
  auto chunks = ceil_div(tiles, std::min(fits, most));
  chunks += chunks % 2;  // two threads have as much to do
  return images * chunks >= threads ? chunks : 0;
}

}  // namespace ovir::fast
