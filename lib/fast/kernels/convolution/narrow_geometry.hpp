// Sizes of a convolution on words of two bf16 or four u8 channels, and the order of its weights and sums (narrow.hpp).
#pragma once
#include <optional>

#include "fast/kernels/convolution/padded_blocks.hpp"
#include "fast/kernels/convolution/shape.hpp"
#include "fast/kernels/panels.hpp"

namespace ovir::fast {

/// The channels that 16 outputs in a row of a convolution of several groups read: those of all groups they are of, in
/// runs of words none of which lies in two blocks. Weights of other groups are 0.
struct GroupedChannels {
  i64 each, outputs;  ///< channels and outputs of a group
  i64 channels;       ///< of all groups that 16 outputs may be of
  i64 lanes;          ///< channels of a word
  i64 words, runs;    ///< of a run, and of all channels

  GroupedChannels(const ConvolutionShape& shape, i64 lanes);
  /// What the first channel is a multiple of.
  i64 aligned() const { return kBlock % outputs == 0 ? channels : each; }
  /// The first one that any of the 16 outputs reads of which this is one.
  i64 first(i64 output) const { return output / kBlock * kBlock / outputs * each; }
  /// Runs of the groups that those of the 16 outputs from `output` on which are there belong to.
  i64 runs_read(i64 output, i64 all) const {
    const auto last = std::min(output + kBlock, all) - 1;
    return ceil_div((last / outputs + 1) * each - first(output), words * lanes);
  }
};

/// Output slices by rows of each, and the padded ones that they read.
struct NarrowBand {
  Part slices, rows;
  i64 first_slice, read_slices, first_row, read_rows;
};
/// Bands of at most so many.
struct NarrowBands {
  i64 slices, rows, read_slices, read_rows;
};

/// Columns that a convolution reads: those of its padded input.
i64 narrow_width(const ConvolutionShape& shape);

/// How the sums of a convolution run over words.
struct NarrowGeometry {
  static constexpr i64 kMaxTaps = 256;
  static constexpr i64 kMaxUnrolled = 256;  ///< columns of a kernel
  static constexpr int kAlone = 4;          ///< threads that each copy a whole plane

  /// `lanes`: channels of a word. `parts`: 3 for f32, else 1. Of several groups those that takes_groups().
  NarrowGeometry(const ConvolutionShape& shape, i64 lanes, i64 parts = 1);
  /// Whether groups, of more than one channel, are so large that few of the products are with 0.
  static bool takes_groups(const ConvolutionShape& shape, i64 lanes);

  ConvolutionShape s;  ///< a pointwise convolution as one row
  i64 lanes, parts;
  /// Few channels, as an image has: the words of neighboring pixels lie side by side, and a row of the kernel is one
  /// run of steps.
  bool image;
  /// An image of one channel in bf16: two columns of the kernel are a word, and what an output pixel reads of a row
  /// lies side by side, so that an image has as many columns as the output.
  bool unrolled;
  /// Of several groups: the sums of 16 outputs run over runs of words, in each of them over all taps.
  std::optional<GroupedChannels> grouped;
  i64 blocks, pixel;                             ///< of the input; words of a pixel
  i64 step;                                      ///< from what an output pixel reads to what the next one does
  i64 steps, last_steps, taps;                   ///< of a block, of the last block; taps of a block
  i64 padded_slices, padded_rows, padded_width;  ///< rows of a slice
  bool padded;
  ColumnPhases phases;  ///< of a padded row

  PanelSteps panel_steps() const {
    return {grouped ? 1 : blocks, grouped ? grouped->runs * taps : taps, steps, last_steps, !grouped};
  }
  i64 panel_size() const { return panel_steps().size() * parts * kColumns; }
  i64 panels() const { return ceil_div(s.outputs, kColumns); }
  i64 filters_size() const { return panels() * panel_size(); }
  i64 panel_weights() const { return kColumns * s.group_channels() * s.taps(); }  ///< those of a whole panel
  /// The place of a weight in packed filters, counted in weights.
  i64 place(i64 output, i64 channel, i64 row, i64 column) const;
  /// Of several groups: where the taps of the first `runs` runs lie that 16 outputs read, `of_run` those of one run.
  /// Blocks are those that are `there`, so many words apart; beyond the last channel weights are 0.
  void set_taps(i64 output, i64 runs, const Part& there, i64 block_words, const i64* of_run, i64* to) const;
  /// Words of scratch memory. An image is brought into it beforehand, padded.
  i64 scratch_size(int threads) const;
  i64 tiles_scratch_size(int threads) const;  ///< where tiles are not rows of groups

  i64 padded_height() const { return padded_slices * padded_rows; }
  /// The row of the input that a padded row is; -1: it is padding.
  i64 input_row(i64 padded_row) const {
    const auto slice = padded_row / padded_rows - s.slices.pad, row = padded_row % padded_rows - s.pad_top;
    const bool inside = slice >= 0 && slice < s.slices.count && row >= 0 && row < s.slice_height();
    return inside ? slice * s.slice_height() + row : -1;
  }
  i64 padded_size() const { return blocks * parts * padded_height() * padded_width * pixel; }
  /// All images, and the words behind them that may be read, though they do not count.
  i64 images_size() const { return s.batch * padded_size() + 3; }
  /// Whether the padded input is copied in bands of rows, or of columns where the output is a single row, each by who
  /// computes them: it is large beside the filters, all of which are then read for each band.
  bool copies_bands() const;
  /// How a single run makes the panels: `read_words` as OncePanels has it.
  OncePanels once(i64 read_words) const;
  NarrowBands bands() const;
  i64 band_columns() const;
  i64 count_of(const NarrowBands& bands) const;
  NarrowBand band(const NarrowBands& bands, i64 i) const;
  ColumnPhases phases_of(i64 out_columns) const;  ///< of what so many columns of the output read, of a padded row
  /// Whether, where it is not, every thread copies all of it for itself: that is less than to wait for each other.
  bool copies_alone(int threads) const;
};

}  // namespace ovir::fast
