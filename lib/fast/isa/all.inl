// The loops, in terms of Vec, a vector of kWidth floats. Included by one file an instruction set, which defines it and:
//   load, store, spread;  load_some and store_some for the first n < kWidth lanes, the others are 0;
//    fma(a, b, c) = a·b + c;  add_product;  root;  min and max, which give the second operand where one is NaN;
//   leave, for what compilers take for code of 128 bits, and where they move whole registers all the same: as long as
//   the upper halves hold anything, what follows in SSE (expf, called from it, 140 ns) waits;
//   round_even and floor, of any x;  near, to the nearest integer, halves to even, for |x| < 2^22;
//   scaled(x, n) = x·2^n for integers |n| < 254, which rounds once;  inverse(x) = 1 / x for 1 <= x < 2^126;
//   gelu;  gelu_short;  swish_short(x, a, 1 / a);
//   any(mask) of Ints that are 0 or -1;  root and fma of half a vector of doubles;
//   in_groups(p, at), lane l of which is p[at[l]], at[l] < kWidth; vectors of four take at[0] for all lanes;
//   transpose_square, of up to kSquare rows and columns;
//   kSide  vectors side by side in a tile of the one-shot product;  kPixels  rows that, with two vectors of columns
//   each, fill the registers.
#include "fast/isa/in_parts.inl"
#include "fast/isa/loops.inl"
#include "fast/isa/math.inl"

// These use math.inl.
#include "fast/isa/double.inl"

// These use math.inl.
#include "fast/isa/elementwise.inl"
#include "fast/isa/groups.inl"

// These use elementwise.inl.
#include "fast/isa/depthwise.inl"
#include "fast/isa/pooling.inl"
#include "fast/isa/quantize.inl"
#include "fast/isa/recurrent.inl"
#include "fast/isa/rotary.inl"
#include "fast/isa/rows.inl"

// These use rows.inl.
#include "fast/isa/channels.inl"
#include "fast/isa/codes.inl"
#include "fast/isa/dots.inl"
#include "fast/isa/softmax.inl"
#include "fast/isa/tile.inl"
#include "fast/isa/winograd.inl"

static constexpr IsaTable table(const char* name) {
  return {.name = name,
          .lanes = kWidth,
          .rows = 6,
          .tile = tile,
          .dot = dot,
          .dots = dots,
          .dot_ahead = dot_ahead,
          .dot_f16 = dot_f16,
          .dot_bf16 = dot_bf16,
          .axpy = axpy,
          .weighted_sum = weighted_sum,
          .dot_codes = dot_codes,
          .dot_codes_by_rows = dot_codes_by_rows,
          .decode = decode,
          .pixels = kPixels,
          .packed = packed,
          .group_rows = group_rows,
          .depthwise = depthwise,
          .depthwise_band = depthwise_band,
          .pool = pool,
          .pool_band = pool_band,
          .winograd_input = winograd_input,
          .winograd_filter = winograd_filter,
          .winograd_output = winograd_output,
          .line_input = line_input,
          .line_filter = line_filter,
          .line_output = line_output,
          .unary = unary,
          .binary = binary,
          .select = select,
          .activate = activate,
          .quantize = quantize,
          .sum = sum,
          .maximum = maximum,
          .minimum = minimum,
          .scale_add = scale_add,
          .scale_add_grid = scale_add_grid,
          .deviation = deviation,
          .reduce_columns = reduce_columns,
          .exp_sum = exp_sum,
          .softmax_rows = softmax_rows,
          .short_row = kShortRow * kWidth,
          .normalize_short_rows = normalize_short_rows,
          .normalize = normalize,
          .lane_sums = lane_sums,
          .lane_deviations = lane_deviations,
          .lane_normalize = lane_normalize,
          .normalize_columns = normalize_columns,
          .normalize_pixels = normalize_block_pixels,
          .lstm_cell = lstm_cell,
          .turn_halves = turn_halves,
          .turn_neighbors = turn_neighbors,
          .transpose = transpose};
}
