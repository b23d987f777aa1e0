#include "fast/kernels/channel_pairs.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace ovir::fast {
namespace {

constexpr int kMostOfPair = 128;
constexpr i64 kVector = 8;  // columns that have excesses of their own
constexpr int kMostTries = 64;

void join(ChannelPairs::Partners& partners, int a, int b) {
  partners[a] = static_cast<std::uint8_t>(b);
  partners[b] = static_cast<std::uint8_t>(a);
}
constexpr unsigned bits(int a, int b) { return 1u << a | 1u << b; }

}  // namespace

int pair_excess(int a, int b) {
  const auto beyond = std::abs(a) + std::abs(b) - kMostOfPair;
  return beyond <= 0 || (a < 0) != (b < 0) ? 0 : a < 0 ? -beyond : beyond;
}

ChannelPairs::ChannelPairs(const Word* from, i64 words, i64 columns) : channels_(4 * words), columns_(columns) {
  for (i64 c = 0; c < channels_; ++c)
    for (i64 o = 0; o < columns_; ++o) {
      const int weight = static_cast<std::int8_t>(from[c / 4 * kColumns + o] >> c % 4 * 8);
      weights_[c][o] = static_cast<std::int8_t>(weight);
      positive_[c][o] = static_cast<std::uint8_t>(std::max(weight, 0));
      negative_[c][o] = static_cast<std::uint8_t>(std::max(-weight, 0));
    }
}

/// The vectors of columns in which two channels are too large for a pair.
int ChannelPairs::misfits(i64 a, i64 b) const {
  int count = 0;
  for (i64 first = 0; first < columns_; first += kVector) {
    bool fits = true;
    for (auto o = first; o < first + kVector; ++o)
      fits =
          fits && positive_[a][o] + positive_[b][o] <= kMostOfPair && negative_[a][o] + negative_[b][o] <= kMostOfPair;
    count += fits ? 0 : 1;
  }
  return count;
}

/// Of `some`, who has the fewest friends among those that are left, of those who have any; -1: nobody has.
int ChannelPairs::most_lonely(const Friends& friends, unsigned some, unsigned left) {
  int found = -1, fewest = kChannels + 1;
  for (; some != 0; some &= some - 1) {
    const auto c = std::countr_zero(some), count = std::popcount(friends[c] & left);
    if (count == 0 || count >= fewest) continue;
    found = c;
    fewest = count;
  }
  return found;
}

/// Whether all that are left were paired with friends.
bool ChannelPairs::pair_all(const Friends& friends, unsigned left, Partners& found, int& tries) {
  if (left == 0) return true;
  int a = 0, fewest = kChannels + 1;
  for (auto rest = left; rest != 0; rest &= rest - 1) {
    const auto c = std::countr_zero(rest), count = std::popcount(friends[c] & left);
    if (count >= fewest) continue;
    a = c;
    fewest = count;
  }
  for (auto rest = friends[a] & left; rest != 0; rest &= rest - 1) {
    if (--tries < 0) return false;
    const auto b = std::countr_zero(rest);
    if (!pair_all(friends, left & ~bits(a, b), found, tries)) continue;
    join(found, a, b);
    return true;
  }
  return false;
}

ChannelPairs::Partners ChannelPairs::partners() const {
  i64 fitting = 0;
  while (fitting < channels_ && misfits(fitting, fitting + 1) == 0) fitting += 2;
  auto found = kNeighbors;
  if (fitting >= channels_) return found;
  std::array<std::array<int, kChannels>, kChannels> costs;
  Friends friends{};
  for (int a = 0; a < channels_; ++a)
    for (int b = a + 1; b < channels_; ++b) {
      costs[a][b] = misfits(a, b);
      if (costs[a][b] > 0) continue;
      friends[a] |= 1u << b;
      friends[b] |= 1u << a;
    }
  auto left = (1u << channels_) - 1;
  auto tries = kMostTries;
  if (pair_all(friends, left, found, tries)) return found;
  // As many as come together, then the others, who have the least excess.
  for (auto a = most_lonely(friends, left, left); a >= 0; a = most_lonely(friends, left, left)) {
    const auto b = most_lonely(friends, friends[a] & left, left);
    join(found, a, b);
    left &= ~bits(a, b);
  }
  while (left != 0) {
    const auto a = std::countr_zero(left);
    auto best = -1;
    for (auto b = a + 1; b < channels_; ++b)
      if ((left >> b & 1) != 0 && (best < 0 || costs[a][b] < costs[a][best])) best = b;
    join(found, a, best);
    left &= ~bits(a, best);
  }
  return found;
}

}  // namespace ovir::fast
