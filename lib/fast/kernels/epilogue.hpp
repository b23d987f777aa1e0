// Epilogue: what a product or a convolution does to its sums before they leave the cache.
#pragma once
#include <algorithm>
#include <limits>

#include "base/int.hpp"
#include "fast/isa/table.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {

/// out = activation(sum + bias + residual), or activation(sum + bias) + residual where `residual_last`.
struct Epilogue {
  const float* bias = nullptr;  ///< by column, padded with anything finite to a multiple of 16
  Unary activation{};
  const float* slopes = nullptr;  ///< by column, padded alike: for Function::prelu
  const float* residual =
      nullptr;  ///< laid out as the output; may be the output unless it is read after the activation
  bool residual_last = false;

  /// A tile's loops can do all of it.
  bool is_simple() const { return activation.is_clamp() && !(residual && residual_last && has_activation()); }
  bool has_activation() const { return activation.f != Function::identity; }
  /// That of the columns from `column` on; the output's first element is `offset + column` after that of all of it.
  Epilogue from(i64 offset, i64 column) const {
    auto e = *this;
    if (e.bias) e.bias += column;
    if (e.slopes) e.slopes += column;
    if (e.residual) e.residual += offset + column;
    return e;
  }
};

/// Gives the tile the part of the epilogue that its loops do. `column` is the first column of the tile, `residual` what
/// is added to its first pixel.
inline void begin(Tile& tile, const Epilogue& e, i64 column, const float* residual, i64 pixel, i64 block) {
  const bool bounded = e.activation.f == Function::clamp && e.is_simple();
  tile.low = bounded ? e.activation.a : -std::numeric_limits<float>::infinity();
  tile.high = bounded ? e.activation.b : std::numeric_limits<float>::infinity();
  tile.bias = e.bias ? e.bias + column : nullptr;
  tile.residual = e.is_simple() || !e.residual_last ? residual : nullptr;
  tile.residual_pixel = pixel;
  tile.residual_block = block;
}

/// What goes with a part of the sums: bias and residual with the first, all else with the last.
inline Epilogue part_of(Epilogue e, bool first, bool last) {
  const bool after = e.residual_last && e.has_activation();
  if (!first) e.bias = nullptr;
  if (after ? !last : !first) e.residual = nullptr;
  if (!last) e.activation = {};
  return e;
}

/// begin() of a part that is not the first, whose epilogue part_of() gave: it adds to the sums so far.
inline void begin_later(Tile& tile, const Epilogue& e, i64 column, const float* so_far, i64 pixel, i64 block) {
  auto inner = e;
  inner.residual_last = false;
  if (!e.is_simple()) inner.activation = {};
  begin(tile, inner, column, so_far, pixel, block);
}

/// Pixels that a tile of `pixels` had better have at once: all, or as many as stay in the first-level cache until
/// finish() comes to them.
inline i64 pixels_together(const Epilogue& e, i64 pixels) {
  constexpr i64 kFew = 84;  // whole tiles of 6 and of 14
  return e.is_simple() ? pixels : kFew;
}

/// What is left of the epilogue once the tile is stored.
inline void finish(const IsaTable& isa, const Tile& tile, i64 pixels, int columns, const Epilogue& e, i64 column,
                   const float* residual, i64 pixel, i64 block) {
  if (e.is_simple()) return;
  // Vectors of columns that have no weights are 0, and stay so.
  const auto filled = tile.filled > 0 ? round_up(tile.filled, isa.lanes) : columns;
  for (i64 c = 0; c < filled; c += kBlock)
    isa.activate(e.activation, e.slopes ? e.slopes + column + c : nullptr, tile.out + c / kBlock * tile.out_block,
                 tile.out_pixel, e.residual_last && residual ? residual + c / kBlock * block : nullptr, pixel, pixels,
                 std::min(kBlock, filled - c));
}

/// A row of plain values: y[i] is the epilogue of x[i] for i < n, whose column is column + i·step, step being 0 or 1.
/// `residual` is what is added to the row, null where nothing is; y may be x.
inline void finish_row(const IsaTable& isa, const Epilogue& e, i64 column, i64 step, const float* x,
                       const float* residual, float* y, i64 n) {
  const auto* from = x;
  const auto with = [&](Binary f, const float* operand, i64 operand_step) {
    isa.binary(f, from, 1, operand, operand_step, y, n);
    from = y;
  };
  if (e.bias) with(Binary::add, e.bias + column, step);
  if (residual && !e.residual_last) with(Binary::add, residual, 1);
  if (e.slopes) {
    with(Binary::prelu, e.slopes + column, step);
  } else if (e.has_activation()) {
    isa.unary(e.activation, from, y, n);
    from = y;
  }
  if (residual && e.residual_last) with(Binary::add, residual, 1);
  if (from != y) std::copy_n(from, n, y);
}

}  // namespace ovir::fast
