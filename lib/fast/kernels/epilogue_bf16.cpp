#include "fast/kernels/epilogue_bf16.hpp"

namespace ovir::fast {
namespace {

constexpr int kMostPixels = 16;

/// In f32, aside: any activation, operands of any type, columns that are not stored.
struct Aside {
  alignas(64) float values[kMostPixels * kColumns], residual[kMostPixels * kColumns];

  void take(const NarrowTable& table, const Bf16Place& from, int pixels, i64 valid) {
    std::fill_n(residual, pixels * kColumns, 0.0f);
    for (i64 p = 0; p < pixels; ++p) {
      float* to = residual + p * kColumns;
      if (from.narrow) table.from_bf16(from.narrow + p * from.pixel, to, valid);
      else
        for (i64 c = 0; c < valid; c += kBlock)
          std::copy_n(from.wide + p * from.pixel + c / kBlock * from.block, std::min(kBlock, valid - c), to + c);
    }
  }

  void give(const NarrowTable& table, const Bf16Place& to, int pixels, i64 valid, bool padded) {
    const auto stored = !padded ? valid : (to.narrow ? kColumns : (valid + kBlock - 1) / kBlock * kBlock);
    for (i64 p = 0; p < pixels; ++p) {
      float* from = values + p * kColumns;
      std::fill(from + valid, from + kColumns, 0.0f);
      if (to.narrow) table.to_bf16(from, to.narrow + p * to.pixel, stored);
      else
        for (i64 c = 0; c < stored; c += kBlock)
          std::copy_n(from + c, std::min(kBlock, stored - c), to.wide + p * to.pixel + c / kBlock * to.block);
    }
  }
};

}  // namespace

void bf16_tile(const NarrowSum& sum, int pixels, i64 column, i64 valid, bool padded, const Epilogue& e,
               const Bf16Place& residual, const Bf16Place& out) {
  const auto& table = narrow_isa();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Bf16Tile tile{.sum = sum, .bias = e.bias ? e.bias + column : nullptr, .low = -kInfinity, .high = kInfinity};
  const bool bounded = e.activation.f == Function::clamp, in_place = !residual || residual.narrow;
  const bool keeps_zeros = !bounded || (e.activation.a <= 0 && e.activation.b >= 0);
  const bool whole = valid == kColumns || (padded && keeps_zeros && (out.narrow || valid > kBlock));
  if (whole && in_place && e.activation.is_clamp() && !(residual && e.residual_last && e.has_activation())) {
    if (bounded) {
      tile.low = e.activation.a;
      tile.high = e.activation.b;
    }
    tile.residual = residual.narrow;
    tile.residual_pixel = residual.pixel;
    tile.wide = out.wide;
    tile.out = out.narrow;
    tile.out_pixel = out.pixel;
    tile.out_block = out.block;
    return table.bf16(tile, pixels);
  }
  Aside aside;
  tile.wide = aside.values;
  tile.out_pixel = kColumns;
  tile.out_block = kBlock;
  table.bf16(tile, pixels);
  if (residual) aside.take(table, residual, pixels, valid);
  const auto& loops = isa();
  const i64 n = pixels * kColumns;
  if (residual && !e.residual_last) loops.binary(Binary::add, aside.values, 1, aside.residual, 1, aside.values, n);
  const bool last = residual && e.residual_last;
  loops.activate(e.activation, e.slopes ? e.slopes + column : nullptr, aside.values, kColumns,
                 last ? aside.residual : nullptr, kColumns, pixels, kColumns);
  aside.give(table, out, pixels, valid, padded);
}

}  // namespace ovir::fast
