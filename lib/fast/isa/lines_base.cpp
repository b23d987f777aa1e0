// For any machine.
#include <type_traits>

#include "fast/isa/lines.hpp"

namespace ovir::fast {
namespace {

using Ranks = std::int32_t __attribute__((vector_size(32)));
inline void lesser(const Ranks& a, const Ranks& b, Ranks& to) { to = a < b ? a : b; }
inline void larger(const Ranks& a, const Ranks& b, Ranks& to) { to = a > b ? a : b; }

#include "fast/isa/along.inl"
#include "fast/isa/detections.inl"
#include "fast/isa/fourier.inl"
#include "fast/isa/pixels.inl"
#include "fast/isa/ranking.inl"
#include "fast/isa/resample.inl"
#include "fast/isa/truncate.inl"

}  // namespace

extern const LineTable kLinesBaseTable = {.rank = rank,
                                          .below = below,
                                          .keep = keep,
                                          .fourier = fourier,
                                          .overlaps = overlaps,
                                          .covered = covered,
                                          .decay = decay,
                                          .sample = sample,
                                          .bilinear = bilinear,
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
                                          .to_bytes = to_bytes};

}  // namespace ovir::fast
