// Which channels' i8 weights are multiplied as pairs, whose products with u8 are added up within 16 bits: two weights
// of one sign whose absolute values add up to more than 128 may leave those.
#pragma once
#include <array>
#include <cstring>

#include "fast/isa/narrow.hpp"

namespace ovir::fast {

/// What is beyond what a pair may be, with its sign.
int pair_excess(int a, int b);

/// Weights of up to sixteen channels by 8 or 16 columns, from which pairs are made.
class ChannelPairs {
 public:
  static constexpr i64 kChannels = 16, kMostColumns = 16;
  static constexpr std::uint8_t kMostOfPair = 128;
  /// By channel.
  using Partners = std::array<std::uint8_t, kChannels>;
  using Row = std::array<std::int8_t, kMostColumns>;
  static constexpr Partners kNeighbors = {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14};

  /// Those of words of four channels each, whose columns lie side by side, kColumns words behind those of the word
  /// before.
  ChannelPairs(const Word* from, i64 words, i64 columns);

  i64 channels() const { return channels_; }
  const Row& row(i64 channel) const { return weights_[channel]; }
  /// The vectors of 8 columns in which two channels are too large for a pair.
  int misfits(i64 a, i64 b) const {
    constexpr Bytes kMost = Bytes{} + kMostOfPair;
    const auto beyond = (positive_[a] > kMost - positive_[b]) | (negative_[a] > kMost - negative_[b]);
    std::array<std::uint64_t, 2> vectors;
    std::memcpy(vectors.data(), &beyond, sizeof vectors);
    return (vectors[0] != 0 ? 1 : 0) + (vectors[1] != 0 ? 1 : 0);
  }
  /// Neighbors where all of them fit; else, as far as a short search shows, those with the least excess.
  Partners partners() const;

 private:
  using Bytes = std::uint8_t __attribute__((vector_size(kMostColumns)));
  /// By channel, bits: who fits whom.
  using Friends = std::array<unsigned, kChannels>;

  Friends friends(unsigned some) const;
  static int most_lonely(const Friends& friends, unsigned some, unsigned left, int fewest);
  static bool pair_all(const Friends& friends, unsigned left, Partners& found, int& tries);

  i64 channels_;
  std::array<Row, kChannels> weights_{};
  std::array<Bytes, kChannels> positive_, negative_;  // sizes of those of a sign
};

}  // namespace ovir::fast
