// How convolutions of groups are shared out: rows of the outputs of groups that have whole blocks of channels.
#pragma once
#include <array>

#include "fast/kernels/convolution/padded_blocks.hpp"

namespace ovir::fast {

/// Rows of a plane of blocks, of 16 words a pixel: row 0 is the first that is read, and what neighboring outputs read
/// at a tap lies side by side.
template <class Word>
struct GroupSource {
  const Word* data;
  i64 row, block;
};

class GroupBands {
 public:
  static constexpr i64 kRowsTogether = 4;  ///< that tiles of short rows share

  /// Whether there are enough for several threads where outputs are a single row, which is not cut.
  static bool are_enough(const ConvolutionShape& s, const JoinedGroups& groups) {
    constexpr i64 kEnough = 8;
    return s.out_height != 1 || groups.count >= kEnough;
  }

  GroupBands(const ConvolutionShape& shape, const JoinedGroups& groups)
      : s(shape), joined(groups), tall((s.kernel_height - 1) * s.dilation_y + 1) {
    const auto width = reach(s.width, s.pad_left, s.out_width, s.stride_x, s.kernel_width, s.dilation_x);
    const auto height = reach(s.height, s.pad_top, s.out_height, s.stride_y, s.kernel_height, s.dilation_y);
    copies = s.stride_x > 1 || width != s.width || height != s.height;
    phases = {.width = ceil_div(width, s.stride_x),
              .stride = s.stride_x,
              .count = std::min(s.stride_x, (s.kernel_width - 1) * s.dilation_x + 1)};
    const auto shares = std::max<i64>(ceil_div(kChunks, s.batch * joined.count), 1);
    rows = round_up(std::max({ceil_div(s.out_height, shares), ceil_div(tall, s.stride_y), i64{1}}), kRowsTogether);
    const auto fits = (kWords / (joined.blocks() * row_words()) - tall) / s.stride_y + 1;
    if (copies) rows = std::clamp<i64>(rows, 1, std::max<i64>(fits, 1));
    rows = std::min(rows, std::max<i64>(s.out_height, 1));
  }

  /// Words of scratch memory.
  i64 scratch_size(int threads) const { return threads * copy_size(); }
  i64 most_rows() const { return rows; }

  /// Offsets of the taps.
  void taps(i64* to) const {
    const auto row = copies ? row_words() : s.width * kBlock;
    for (i64 x = 0; x < s.kernel_width; ++x) {
      const auto place = phases.place(x * s.dilation_x) * kBlock;
      for (i64 y = 0; y < s.kernel_height; ++y) to[y * s.kernel_width + x] = y * s.dilation_y * row + place;
    }
  }

  /// compute(source, image, joined groups, output rows) for all of them. `in` has so many blocks an image, `pad` is the
  /// pixel around it; `cost`: nanoseconds of all.
  template <class Word, class Compute>
  void each(const Word* in, i64 blocks, const Word* pad, float* scratch, double cost, ThreadPool& pool,
            const Compute& compute) const {
    static_assert(sizeof(Word) == sizeof(float));
    const auto count = ceil_div(s.out_height, rows), chunks = s.batch * joined.count * count;
    Slots slots(scratch, copy_size(), slots_for(pool));
    parallel_ranges(pool, chunks, cost / static_cast<double>(chunks), [&](i64 begin, i64 end) {
      const Slots::Lease room(slots);
      for (auto i = begin; i < end; ++i) {
        const auto image = i / count / joined.count, unit = i / count % joined.count;
        const Part band(i % count * rows, std::min((i % count + 1) * rows, s.out_height));
        const auto block = image * blocks + unit * joined.blocks();
        if (!copies) {
          const auto row = s.width * kBlock;
          compute(GroupSource<Word>{in + block * s.plane() * kBlock + band.begin * s.stride_y * row, row,
                                    s.plane() * kBlock},
                  image, unit, band);
          continue;
        }
        const auto read = read_rows(band.size());
        auto* to = reinterpret_cast<Word*>(room.data());
        const auto there = ceil_div(joined.channels_of(s, unit), joined.block);
        copy_padded(s, phases, in, pad, block, block + there, band.begin * s.stride_y, read, to);
        compute(GroupSource<Word>{to, row_words(), read * row_words()}, image, unit, band);
      }
    });
  }

 private:
  static constexpr i64 kWords = 64 << 10;  // of padded rows, a quarter of the cache
  static constexpr i64 kChunks = 16;       // at least, where there are rows for them

  i64 row_words() const { return phases.count * phases.width * kBlock; }
  i64 read_rows(i64 out_rows) const { return (out_rows - 1) * s.stride_y + tall; }
  i64 copy_size() const { return copies ? joined.blocks() * read_rows(rows) * row_words() : 0; }

  const ConvolutionShape& s;
  const JoinedGroups& joined;
  bool copies = false;  ///< what is read: with its padding, or columns apart
  ColumnPhases phases;
  i64 tall, rows = 0;  ///< input rows that an output row reads; output rows of a band
};

}  // namespace ovir::fast
