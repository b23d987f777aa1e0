#include <algorithm>
#include <array>
#include <random>

#include "catch.hpp"
#include "fast/kernels/channel_pairs.hpp"

using namespace ovir;
using namespace ovir::fast;

namespace {

using Weights = std::array<std::array<int, ChannelPairs::kMostColumns>, ChannelPairs::kChannels>;

std::array<Word, 4 * kColumns> packed(const Weights& weights) {
  std::array<Word, 4 * kColumns> words{};
  for (std::size_t c = 0; c < weights.size(); ++c)
    for (std::size_t o = 0; o < weights[c].size(); ++o)
      words[c / 4 * kColumns + o] |= Word{static_cast<std::uint8_t>(weights[c][o])} << c % 4 * 8;
  return words;
}

/// As the weights themselves say.
int misfits(const Weights& weights, std::size_t a, std::size_t b, i64 columns) {
  int count = 0;
  for (i64 first = 0; first < columns; first += 8) {
    bool fits = true;
    for (auto o = static_cast<std::size_t>(first); o < static_cast<std::size_t>(first) + 8; ++o)
      fits = fits && pair_excess(weights[a][o], weights[b][o]) == 0;
    count += fits ? 0 : 1;
  }
  return count;
}

}  // namespace

TEST_CASE("pairs of channels: the excess is what leaves 16 bits") {
  CHECK(pair_excess(64, 64) == 0);
  CHECK(pair_excess(127, 2) == 1);
  CHECK(pair_excess(-128, -128) == -128);
  CHECK(pair_excess(-128, 127) == 0);
  // The largest product that is left: 255 times weights of 128 in all.
  CHECK(255 * 128 <= 32767);
}

TEST_CASE("pairs of channels: each has a partner, and no more pairs are too large than of neighbors") {
  std::mt19937 random(7);
  for (const i64 columns : {8, 16})
    for (const i64 words : {1, 2, 3, 4})
      for (const int most : {40, 70, 90, 127})
        for (int again = 0; again < 20; ++again) {
          Weights weights{};
          std::normal_distribution<float> draw(0, static_cast<float>(most) / 2);
          for (auto& row : weights)
            for (auto& w : row) w = std::clamp(static_cast<int>(draw(random)), -128, 127);
          const auto from = packed(weights);
          const ChannelPairs pairs(from.data(), words, columns);
          REQUIRE(pairs.channels() == 4 * words);
          const auto partners = pairs.partners();
          int found = 0, neighbors = 0;
          for (std::size_t a = 0; a < static_cast<std::size_t>(pairs.channels()); ++a) {
            const std::size_t b = partners[a];
            REQUIRE(b != a);
            REQUIRE(b < static_cast<std::size_t>(pairs.channels()));
            REQUIRE(partners[b] == a);
            REQUIRE(pairs.misfits(static_cast<i64>(a), static_cast<i64>(b)) == misfits(weights, a, b, columns));
            found += misfits(weights, a, b, columns);
            neighbors += misfits(weights, a, a ^ 1, columns);
          }
          CHECK(found <= neighbors);
        }
}

TEST_CASE("pairs of channels: who fits only the others is paired with them") {
  Weights weights{};
  for (std::size_t c = 0; c < weights.size(); ++c) weights[c].fill(c < 8 ? 127 : -127);
  const auto from = packed(weights);
  const ChannelPairs pairs(from.data(), 4, 16);
  const auto partners = pairs.partners();
  for (std::size_t c = 0; c < 8; ++c) CHECK(partners[c] >= 8);
}
