// The loops of LineTable, in terms of Ranks, a vector of eight integers, of which lesser and larger give the lesser and
// the larger ones, of FourFloats, which widen makes Fours, of kVectorBytes, those of a register, and of Pairs of words
// in it, the lower ones of which low_products multiplies. Included by one file an instruction set, which defines them.
#include "fast/isa/along.inl"
#include "fast/isa/detections.inl"
#include "fast/isa/fourier.inl"
#include "fast/isa/grid.inl"
#include "fast/isa/philox.inl"
#include "fast/isa/pixels.inl"
#include "fast/isa/ranking.inl"
#include "fast/isa/resample.inl"
#include "fast/isa/truncate.inl"
#include "fast/isa/whole.inl"
#include "fast/isa/whole_folds.inl"

static constexpr LineTable line_table() {
  return {.rank = rank,
          .below = below,
          .keep = keep,
          .fourier = fourier,
          .overlaps = overlaps,
          .covered = covered,
          .decay = decay,
          .sample = sample,
          .grid_pixels = grid_pixels,
          .sum_pixels = sum_pixels,
          .multiply = multiply,
          .respond = respond,
          .truncate = truncate,
          .floats_of_bytes = floats_of_bytes,
          .split = split,
          .join = join,
          .split_bytes = split,
          .join_bytes = join,
          .reorder = reorder,
          .reorder_bytes = reorder_bytes,
          .add_byte_rows = add_byte_rows,
          .add_pixels = add_pixels,
          .add_wide_pixels = add_wide_pixels,
          .to_bytes = to_bytes,
          .philox = philox,
          .uniform = uniform,
          .whole = whole,
          .whole_columns = whole_columns,
          .whole_row = whole_row,
          .whole_sums = whole_sums,
          .whole_sum = whole_sum};
}
