// How Winograd's convolution cuts an axis of the output into tiles.
#pragma once
#include <algorithm>

#include "base/int.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {

/// One axis: tiles of `size` output pixels that lie `apart` (the dilation), as many tiles side by side.
struct WinogradAxis {
  i64 size, apart, tiles;
  WinogradAxis(i64 length, i64 tile, i64 dilation)
      : size(tile),
        apart(dilation),
        tiles(length / (tile * dilation) * dilation + std::min(length % (tile * dilation), dilation)) {}
  /// Input pixels of a tile.
  i64 window() const { return size == 1 ? 1 : size + 2; }
  /// The first output pixel of a tile.
  i64 first(i64 tile) const { return apart == 1 ? tile * size : tile / apart * size * apart + tile % apart; }
  /// How many of a tile's output pixels there are.
  i64 pixels(i64 first, i64 length) const { return std::min(size, ceil_div(length - first, apart)); }
};

}  // namespace ovir::fast
