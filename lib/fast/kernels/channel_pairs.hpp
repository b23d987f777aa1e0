// Which channels' i8 weights are multiplied as pairs, whose products with u8 are added up within 16 bits: two weights
// of one sign whose absolute values add up to more than 128 may leave those.
#pragma once
#include <array>

#include "fast/isa/narrow.hpp"

namespace ovir::fast {

/// What is beyond what a pair may be, with its sign.
int pair_excess(int a, int b);

/// Weights of up to sixteen channels by 8 or 16 columns, from which pairs are made.
class ChannelPairs {
 public:
  static constexpr i64 kChannels = 16, kMostColumns = 16;
  /// By channel.
  using Partners = std::array<std::uint8_t, kChannels>;
  static constexpr Partners kNeighbors = {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14};

  /// Those of words of four channels each, whose columns lie side by side, kColumns words behind those of the word
  /// before.
  ChannelPairs(const Word* from, i64 words, i64 columns);

  i64 channels() const { return channels_; }
  int weight(i64 channel, i64 column) const { return weights_[channel][column]; }
  /// Neighbors where all of them fit; else, as far as a short search shows, those with the least excess.
  Partners partners() const;

 private:
  using Column = std::array<std::uint8_t, kMostColumns>;
  using Friends = std::array<unsigned, kChannels>;  // bits: who fits whom

  int misfits(i64 a, i64 b) const;
  static int most_lonely(const Friends& friends, unsigned some, unsigned left);
  static bool pair_all(const Friends& friends, unsigned left, Partners& found, int& tries);

  i64 channels_, columns_;
  std::array<std::array<std::int8_t, kMostColumns>, kChannels> weights_;
  std::array<Column, kChannels> positive_, negative_;  // sizes of those of a sign
};

}  // namespace ovir::fast
