#include "fast/kernels/convolution/groups.hpp"

#include <array>

#include "fast/kernels/convolution/group_bands.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kFinishedPixels = 256;  // which are still in the first-level cache when an activation takes them

/// Outputs of a group that lie in one block and that a vector holds.
struct Piece {
  i64 output, count;
};

/// Joined groups, of whole blocks, whose outputs are cut into pieces.
struct Pieces {
  JoinedGroups joined;
  i64 lanes, floats;  ///< of a vector; of the weights of a piece
  i64 count = 0;      ///< of joined groups

  explicit Pieces(const ConvolutionShape& s)
      : joined(s), lanes(isa().lanes), floats(s.group_channels() * s.taps() * lanes) {
    each(s, joined.outputs, [&](const Piece&) { ++count; });
  }
  /// work(piece) for the first `outputs` outputs of joined groups, in order.
  template <class Work>
  void each(const ConvolutionShape& s, i64 outputs, const Work& work) const {
    const auto of_group = s.group_outputs();
    for (i64 o = 0, n = 0; o < outputs; o += n) {
      n = std::min({lanes, of_group - o % of_group, kBlock - o % kBlock});
      work(Piece{o, n});
    }
  }
};

struct Job {
  const ConvolutionShape& s;
  const Pieces& pieces;
  const float* filters;
  float* out;
  const Epilogue& epilogue;
  const i64* taps;

  /// Rows of joined groups of an image.
  void compute(const GroupSource<float>& from, i64 image, i64 unit, const Part& rows) const {
    const auto& joined = pieces.joined;
    const auto outputs = joined.outputs_of(s, unit), plane = s.out_plane() * kBlock, width = s.out_width * kBlock;
    const auto first_block = image * blocks_of(s.outputs) + unit * blocks_of(joined.outputs);
    const auto* weights = filters + unit * pieces.count * pieces.floats;
    pieces.each(s, outputs, [&](const Piece& piece) {
      const auto of = unit * joined.outputs + piece.output, group = piece.output / s.group_outputs();
      const auto place = (first_block + piece.output / kBlock) * plane + rows.begin * width + piece.output % kBlock;
      const auto* residual = epilogue.residual ? epilogue.residual + place : nullptr;
      Tile tile{};  // what it takes from the epilogue
      begin(tile, epilogue, of, residual, kBlock, plane);
      isa().group_rows({.in = from.data,
                        .first = group * s.group_channels(),
                        .end = (group + 1) * s.group_channels(),
                        .block = from.block,
                        .row = s.stride_y * from.row,
                        .taps = taps,
                        .tap_count = s.taps(),
                        .weights = weights,
                        .rows = rows.size(),
                        .pixels = s.out_width,
                        .outputs = piece.count,
                        .out = out + place,
                        .out_row = width,
                        .bias = tile.bias,
                        .residual = tile.residual,
                        .low = tile.low,
                        .high = tile.high});
      weights += pieces.floats;
      const auto end = piece.output + piece.count;
      if (end % kBlock == 0 || end == outputs) finish_block(piece.output / kBlock, outputs, of, place, rows);
    });
  }

  /// What is left to do of a block once all of its outputs are there: `place` is in its first pixel.
  void finish_block(i64 block, i64 outputs, i64 of, i64 place, const Part& rows) const {
    const auto used = std::min(outputs - block * kBlock, kBlock), pixels = rows.size() * s.out_width;
    place -= place % kBlock;
    for (i64 p = 0; used < kBlock && p < pixels; ++p) std::fill_n(out + place + p * kBlock + used, kBlock - used, 0.0F);
    Tile tile{};
    tile.out = out + place;
    tile.out_pixel = kBlock;
    const auto* residual = epilogue.residual ? epilogue.residual + place : nullptr;
    finish(isa(), tile, pixels, kBlock, epilogue, of - of % kBlock, residual, kBlock, 0);
  }
};

}  // namespace

bool groups_pay(const ConvolutionShape& s) {
  if (s.groups == 1 || s.is_by_channel() || s.packs_as_one_group()) return false;
  const Pieces pieces(s);
  if (!GroupBands::are_enough(s, pieces.joined)) return false;
  // In steps of a vector. A tile by itself costs some, and direct_convolution() reads a pixel once for several vectors.
  constexpr i64 kTile = 4;
  const auto vectors = kBlock / pieces.lanes;
  i64 direct = 0;
  for (i64 o = 0; o < pieces.joined.outputs; o += kBlock) {
    const auto read = pieces.joined.blocks_read(s, 0, o);
    direct += vectors * ((read.end - read.begin) * kBlock * s.taps() + kTile);
  }
  const auto mine = pieces.count * (s.group_channels() * s.taps() + kTile);
  return vectors == 1 ? mine <= direct : mine * 9 <= direct * 8;
}

i64 groups_filters_size(const ConvolutionShape& s) {
  const Pieces pieces(s);
  return pieces.joined.count * pieces.count * pieces.floats;
}

void groups_pack(const ConvolutionShape& s, const float* filters, float* to, ThreadPool& pool) {
  const Pieces pieces(s);
  const auto taps = s.taps(), channels = s.group_channels(), lanes = pieces.lanes;
  const auto floats = pieces.count * pieces.floats;
  parallel_ranges(pool, pieces.joined.count, static_cast<double>(floats), [&](i64 begin, i64 end) {
    for (auto unit = begin; unit < end; ++unit) {
      auto* piece_to = to + unit * floats;
      std::fill_n(piece_to, floats, 0.0F);
      pieces.each(s, pieces.joined.outputs_of(s, unit), [&](const Piece& piece) {
        // Blocks are those of the joined groups.
        const auto first = piece.output / s.group_outputs() * channels;
        for (i64 lane = 0; lane < piece.count; ++lane) {
          const auto* from = filters + (unit * pieces.joined.outputs + piece.output + lane) * channels * taps;
          auto* step = piece_to + lane;
          for (i64 c = 0, n = 0; c < channels; c += n) {
            n = std::min(channels - c, kBlock - (first + c) % kBlock);
            for (i64 t = 0; t < taps; ++t)
              for (i64 i = 0; i < n; ++i, step += lanes) *step = from[(c + i) * taps + t];
          }
        }
        piece_to += pieces.floats;
      });
    }
  });
}

i64 groups_scratch_size(const ConvolutionShape& s, int threads) {
  return GroupBands(s, JoinedGroups(s)).scratch_size(threads);
}

void groups_convolution(const ConvolutionShape& s, const float* filters, const float* in, float* out,
                        const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  if (s.batch == 0 || s.out_plane() == 0) return;
  alignas(64) static constexpr float kZeros[kBlock] = {};
  const Pieces pieces(s);
  const GroupBands bands(s, pieces.joined);
  std::array<i64, kMaxTaps> taps;
  bands.taps(taps.data());
  const Job job{s, pieces, filters, out, epilogue, taps.data()};
  const auto together = epilogue.is_simple()
                            ? bands.most_rows()
                            : round_up(ceil_div(kFinishedPixels, s.out_width), GroupBands::kRowsTogether);
  bands.each(in, blocks_of(s.channels), kZeros, scratch, s.multiplications() / 40, pool,
             [&](GroupSource<float> source, i64 image, i64 unit, const Part& band) {
               for (auto y = band.begin; y < band.end; y += together, source.data += together * s.stride_y * source.row)
                 job.compute(source, image, unit, {y, std::min(y + together, band.end)});
             });
  clear_padding(s, epilogue.activation, out);
}

}  // namespace ovir::fast
