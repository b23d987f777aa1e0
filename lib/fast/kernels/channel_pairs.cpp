#include "fast/kernels/channel_pairs.hpp"

#include <bit>
#include <cstdlib>

namespace ovir::fast {
namespace {

constexpr int kMostTries = 64, kMostAtFirst = 12;

void join(ChannelPairs::Partners& partners, int a, int b) {
  partners[a] = static_cast<std::uint8_t>(b);
  partners[b] = static_cast<std::uint8_t>(a);
}
constexpr unsigned bits(int a, int b) { return 1u << a | 1u << b; }

/// Of the lowest 16; faster than std::popcount, which is a call where processors may not have an instruction for it.
int bit_count(unsigned mask) {
  static constexpr auto kCounts = [] {
    std::array<std::uint8_t, 256> counts{};
    for (unsigned i = 0; i < counts.size(); ++i) counts[i] = static_cast<std::uint8_t>(std::popcount(i));
    return counts;
  }();
  return kCounts[mask & 255] + kCounts[mask >> 8 & 255];
}

}  // namespace

int pair_excess(int a, int b) {
  const auto beyond = std::abs(a) + std::abs(b) - ChannelPairs::kMostOfPair;
  return beyond <= 0 || (a < 0) != (b < 0) ? 0 : a < 0 ? -beyond : beyond;
}

ChannelPairs::ChannelPairs(const Word* from, i64 words, i64 columns) : channels_(4 * words) {
  using Signed = std::int8_t __attribute__((vector_size(kMostColumns)));
  for (i64 i = 0; i < words; ++i, from += kColumns)
    for (i64 c = 0; c < 4; ++c) {
      auto& row = weights_[4 * i + c];
      for (i64 o = 0; o < columns; ++o) row[o] = static_cast<std::int8_t>(from[o] >> 8 * c);
      Signed weights;
      std::memcpy(&weights, row.data(), sizeof weights);
      const auto below = (Bytes)(weights < 0);
      positive_[4 * i + c] = (Bytes)weights & ~below;
      negative_[4 * i + c] = -(Bytes)weights & below;
    }
}

ChannelPairs::Friends ChannelPairs::friends(unsigned some) const {
  Friends found{};
  for (auto first = some; first != 0; first &= first - 1)
    for (auto rest = first & (first - 1); rest != 0; rest &= rest - 1) {
      const auto a = std::countr_zero(first), b = std::countr_zero(rest);
      if (misfits(a, b) > 0) continue;
      found[a] |= 1u << b;
      found[b] |= 1u << a;
    }
  return found;
}

/// Of `some`, who has the fewest friends among those that are left, at least `fewest`; -1: nobody has.
int ChannelPairs::most_lonely(const Friends& friends, unsigned some, unsigned left, int fewest) {
  int found = -1, least = kChannels;
  for (; some != 0; some &= some - 1) {
    const auto c = std::countr_zero(some), count = bit_count(friends[c] & left);
    if (count < fewest || count >= least) continue;
    found = c;
    least = count;
  }
  return found;
}

/// Whether all that are left were paired with friends.
bool ChannelPairs::pair_all(const Friends& friends, unsigned left, Partners& found, int& tries) {
  if (left == 0) return true;
  const auto a = most_lonely(friends, left, left, 0);
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
  auto found = kNeighbors;
  unsigned left = 0;
  for (int c = 0; c < channels_; c += 2)
    if (misfits(c, c + 1) > 0) left |= bits(c, c + 1);
  // First those that do not fit, among each other.
  auto tries = kMostTries;
  if (bit_count(left) < kMostAtFirst && pair_all(friends(left), left, found, tries)) return found;
  left = (1u << channels_) - 1;
  const auto all = friends(left);
  tries = kMostTries;
  if (pair_all(all, left, found, tries)) return found;
  // As many as come together, then the others, who have the least excess.
  for (auto a = most_lonely(all, left, left, 1); a >= 0; a = most_lonely(all, left, left, 1)) {
    const auto b = most_lonely(all, all[a] & left, left, 1);
    join(found, a, b);
    left &= ~bits(a, b);
  }
  while (left != 0) {
    const auto a = std::countr_zero(left);
    left &= left - 1;
    auto best = std::countr_zero(left);
    for (auto rest = left; rest != 0; rest &= rest - 1)
      if (const auto b = std::countr_zero(rest); misfits(a, b) < misfits(a, best)) best = b;
    join(found, a, best);
    left &= ~(1u << best);
  }
  return found;
}

}  // namespace ovir::fast
