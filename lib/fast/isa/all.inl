// The loops, in terms of Vec, a vector of kWidth floats. Included by one file an instruction set, which defines it and:
//   load, store, spread;  fma(a, b, c) = a·b + c;  root;  min and max, which give the second operand where one is NaN;
//   kSide  vectors side by side in a tile of the one-shot product;  kPixels  rows that, with two vectors of columns
//   each, fill the registers.
#include "fast/isa/loops.inl"
#include "fast/isa/math.inl"

// These use math.inl.
#include "fast/isa/elementwise.inl"

// These use elementwise.inl.
#include "fast/isa/depthwise.inl"
#include "fast/isa/quantize.inl"
#include "fast/isa/rows.inl"
#include "fast/isa/tile.inl"
#include "fast/isa/winograd.inl"

static constexpr IsaTable table(const char* name) {
  return {.name = name,
          .rows = 6,
          .tile = tile,
          .dot = dot,
          .axpy = axpy,
          .pixels = kPixels,
          .packed = packed,
          .depthwise = depthwise,
          .depthwise_band = depthwise_band,
          .pool = pool,
          .winograd_input = winograd_input,
          .winograd_filter = winograd_filter,
          .winograd_output = winograd_output,
          .unary = unary,
          .binary = binary,
          .select = select,
          .activate = activate,
          .quantize = quantize,
          .sum = sum,
          .maximum = maximum,
          .minimum = minimum,
          .deviation = deviation,
          .reduce_columns = reduce_columns,
          .exp_sum = exp_sum,
          .normalize = normalize,
          .transpose = transpose};
}
