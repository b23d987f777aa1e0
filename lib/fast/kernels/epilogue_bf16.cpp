#include "fast/kernels/epilogue_bf16.hpp"

namespace ovir::fast {
namespace {

/// The residual of a tile in f32.
void take(const NarrowTable& table, const Bf16Place& from, int pixels, i64 valid, float* to) {
  std::fill_n(to, pixels * kColumns, 0.0f);
  for (i64 p = 0; p < pixels; ++p, to += kColumns) {
    if (from.narrow) table.from_bf16(from.narrow + p * from.pixel, to, valid);
    else
      for (i64 c = 0; c < valid; c += kBlock)
        std::copy_n(from.wide + p * from.pixel + c / kBlock * from.block, std::min(kBlock, valid - c), to + c);
  }
}

void give(const NarrowTable& table, float* values, const Bf16Place& to, int pixels, i64 valid, bool padded) {
  const auto stored = !padded ? valid : (to.narrow ? kColumns : (valid + kBlock - 1) / kBlock * kBlock);
  for (i64 p = 0; valid < stored && p < pixels; ++p)
    std::fill(values + p * kColumns + valid, values + (p + 1) * kColumns, 0.0f);
  if (to.narrow) return table.rows_to_bf16(values, kColumns, to.narrow, to.pixel, pixels, stored);
  for (i64 p = 0; p < pixels; ++p, values += kColumns)
    for (i64 c = 0; c < stored; c += kBlock)
      std::copy_n(values + c, std::min(kBlock, stored - c), to.wide + p * to.pixel + c / kBlock * to.block);
}

}  // namespace

bool bf16_computes(Function f) {
  return f == Function::gelu_short || f == Function::hswish || (f == Function::swish_short && narrow_isa().swishes);
}

bool bf16_stores_all(i64 valid, bool padded, const Epilogue& e, const Bf16Place& residual, const Bf16Place& out) {
  const bool bounded = e.activation.f == Function::clamp;
  const bool keeps_zeros = !bounded || (e.activation.a <= 0 && e.activation.b >= 0);
  // A residual in bf16 of 16 columns may be what the output is written over: loops on short vectors would write over
  // what they still read.
  const bool mixed = valid <= kBlock && out.wide && residual.narrow;
  const bool whole = valid == kColumns || (!mixed && ((valid == kBlock && out.wide) || (padded && keeps_zeros)));
  return whole && e.activation.is_clamp() && !(residual && e.residual_last && e.has_activation());
}

void bf16_bounds(const Epilogue& e, float& low, float& high) {
  const bool bounded = e.activation.f == Function::clamp;
  low = bounded ? e.activation.a : -std::numeric_limits<float>::infinity();
  high = bounded ? e.activation.b : std::numeric_limits<float>::infinity();
}

void bf16_finish(float* values, int pixels, i64 column, i64 valid, bool padded, const Epilogue& e,
                 const Bf16Place& residual, const Bf16Place& out) {
  const auto& table = narrow_isa();
  const auto& loops = isa();
  alignas(64) float other[kMostPixels * kColumns];
  if (residual) take(table, residual, pixels, valid, other);
  const i64 n = pixels * kColumns, columns = valid <= kBlock ? kBlock : kColumns;
  if (residual && !e.residual_last) loops.binary(Binary::add, values, 1, other, 1, values, n);
  const bool last = residual && e.residual_last;
  loops.activate(out.narrow ? e.activation.shortened() : e.activation, e.slopes ? e.slopes + column : nullptr, values,
                 kColumns, last ? other : nullptr, kColumns, pixels, columns);
  give(table, values, out, pixels, valid, padded);
}

void bf16_tile(const NarrowSum& sum, int pixels, i64 column, i64 valid, bool padded, const Epilogue& e,
               const Bf16Place& residual, const Bf16Place& out) {
  const auto& table = narrow_isa();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Bf16Tile tile{.sum = sum,
                .bias = e.bias ? e.bias + column : nullptr,
                .low = -kInfinity,
                .high = kInfinity,
                .columns = valid <= kBlock ? kBlock : kColumns};
  auto bounds = e;
  const auto narrow = e.activation.shortened();
  if (out.narrow && bf16_computes(narrow.f) && !(residual && e.residual_last)) {
    tile.narrow = narrow;
    bounds.activation = {};
  }
  if (bf16_stores_all(valid, padded, bounds, residual, out)) {
    bf16_bounds(bounds, tile.low, tile.high);
    tile.residual = residual.narrow;
    tile.wide_residual = residual.wide;
    tile.residual_pixel = residual.pixel;
    tile.residual_block = residual.block;
    tile.wide = out.wide;
    tile.out = out.narrow;
    tile.out_pixel = out.pixel;
    tile.out_block = out.block;
    return sum.rows ? table.bf16_rows(tile, *sum.rows) : table.bf16(tile, pixels);
  }
  tile.narrow = {};
  if (out.wide && (valid == kColumns || valid == kBlock) && !residual.narrow) {
    // The activation is computed where the sums are stored.
    (e.residual_last ? tile.last : tile.wide_residual) = residual.wide;
    tile.activation = e.activation;
    tile.slopes = e.slopes ? e.slopes + column : nullptr;
    tile.activate = isa().activate;
    tile.residual_pixel = residual.pixel;
    tile.residual_block = residual.block;
    tile.wide = out.wide;
    tile.out_pixel = out.pixel;
    tile.out_block = out.block;
    return table.bf16(tile, pixels);
  }
  alignas(64) float values[kMostPixels * kColumns];
  tile.wide = values;
  tile.out_pixel = kColumns;
  tile.out_block = kBlock;
  tile.sum.aside = nullptr;
  if (tile.columns < kColumns) std::fill_n(values, std::min(table.pixels, pixels) * kColumns, 0.0f);
  for (int first = 0; first < pixels; first += table.pixels) {
    const auto now = std::min(table.pixels, pixels - first);
    tile.sum.in = sum.in + first * sum.pixel;
    table.bf16(tile, now);
    bf16_finish(values, now, column, valid, padded, e, residual.after(first), out.after(first));
  }
}

}  // namespace ovir::fast
