#include "fast/kernels/pair_excess.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>

#include "fast/kernels/channel_pairs.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kVector = 8, kVectors = kColumns / kVector;  // columns of a list, and lists of a panel
constexpr i64 kHalf = ChannelPairs::kMostColumns, kHalves = kColumns / kHalf;
/// Vectors of words with an excess, which take a step more, as a part of all.
constexpr double kMostExcess = 0.40;
/// From where on 8 columns are better paired alone, which takes four pixels at a time instead of five.
constexpr double kMostBesideOthers = 0.13;

int byte(Word word, i64 i) { return static_cast<std::int8_t>(word >> 8 * i); }

/// What the excesses of a list's steps add up to, by pair and sign, as long as their products fit 16 bits.
class Group {
 public:
  /// False where those of the step do not fit beside the others.
  bool add(const Word* excess) {
    auto all = sums_;
    for (i64 c = 0; c < kVector; ++c)
      for (i64 pair = 0; pair < 2; ++pair) {
        const auto here = byte(excess[c], 2 * pair) + byte(excess[c], 2 * pair + 1);  // one of them is 0
        auto& sum = all[here < 0][2 * c + pair];
        sum += std::abs(here);
        if (sum > ChannelPairs::kMostOfPair) return false;
      }
    sums_ = all;
    return true;
  }

 private:
  std::array<std::array<int, 2 * kVector>, 2> sums_{};
};

/// Sixteen bytes are read at once.
bool can_pick(const PanelSteps& order) { return order.spare || order.last_steps >= 4; }

/// Columns of a panel whose channels are paired alike.
class Columns {
 public:
  /// 8 columns for each list.
  Columns(Word* first, const PanelSteps& order, std::span<PairExcesses::List> lists)
      : first_(first), order_(order), count_(std::ssize(lists) * kVector), lists_(lists) {}

  /// False, and not done, where more than this part of the words has an excess.
  bool pair_all(double most) {
    const bool picks = can_pick(order_);
    i64 at = 0;
    for (i64 block = 0; block < order_.blocks; ++block)
      for (i64 tap = 0, run = block + 1 < order_.blocks ? order_.steps : order_.last_steps; tap < order_.taps; ++tap)
        for (i64 i = 0; i < run; i += 4) {
          const auto steps = std::min<i64>(4, run - i);
          pair(at, steps, i - first_of_four(i, run),
               {.i = static_cast<std::uint32_t>(i),
                .block = static_cast<std::uint16_t>(block),
                .tap = static_cast<std::uint16_t>(tap)},
               picks);
          at += steps;
          if ((at >= kWordsToJudge || at == order_.size()) && excess() > most * static_cast<double>(at)) return false;
        }
    return true;
  }

 private:
  /// Some steps from place `at` on; what is picked lies up to `before` words before the first of them.
  void pair(i64 at, i64 steps, i64 before, const PairExcess::Step& first, bool picks) {
    auto* const words = first_ + at * kColumns;
    const ChannelPairs weights(words, steps, count_);
    const auto partners = picks ? weights.partners() : ChannelPairs::kNeighbors;
    std::array<ChannelPairs::Row, ChannelPairs::kChannels> rows;
    std::array<i64, ChannelPairs::kChannels> order{};
    Excesses excesses{};
    bool any = false;
    i64 place = 0;
    for (i64 a = 0; a < weights.channels(); ++a) {
      const i64 b = partners[a];
      if (b < a) continue;
      order[place] = a;
      order[place + 1] = b;
      rows[place] = weights.row(a);
      rows[place + 1] = weights.row(b);
      if (weights.misfits(a, b) > 0) {
        const bool of_a = a % 2 == 0 || b % 2 == 1;
        take_excess(rows[of_a ? place : place + 1], rows[of_a ? place + 1 : place], of_a ? a : b, excesses);
        any = true;
      }
      place += 2;
    }
    for (i64 i = 0; i < steps; ++i)
      for (i64 o = 0; o < count_; ++o) {
        const auto byte_of = [&](i64 c) { return Word{static_cast<std::uint8_t>(rows[4 * i + c][o])} << 8 * c; };
        words[i * kColumns + o] = byte_of(0) | byte_of(1) | byte_of(2) | byte_of(3);
      }
    for (i64 i = 0; picks && i < steps; ++i) {
      Word pick = 0;
      for (i64 c = 0; c < 4; ++c) pick |= static_cast<Word>(4 * before + order[4 * i + c]) << 8 * c;
      lists_[0].picks.push_back(pick);
    }
    if (any) keep(excesses, steps, first);
  }

  /// Of steps by column: bytes of even channels, then of odd ones. So of two that are multiplied as a pair one is 0.
  using Excesses = std::array<std::array<std::array<Word, ChannelPairs::kMostColumns>, 4>, 2>;

  void take_excess(ChannelPairs::Row& from, const ChannelPairs::Row& other, i64 channel, Excesses& to) const {
    for (i64 o = 0; o < count_; ++o) {
      const auto excess = pair_excess(from[o], other[o]);
      from[o] = static_cast<std::int8_t>(from[o] - excess);
      to[channel % 2][channel / 4][o] |= Word{static_cast<std::uint8_t>(excess)} << channel % 4 * 8;
    }
  }

  void keep(const Excesses& excesses, i64 steps, const PairExcess::Step& first) {
    for (std::uint32_t i = 0; i < steps; ++i)
      for (const auto& bytes : excesses)
        for (i64 v = 0; v < std::ssize(lists_); ++v) {
          const auto* excess = bytes[i].data() + v * kVector;
          if (std::all_of(excess, excess + kVector, [](Word w) { return w == 0; })) continue;
          lists_[v].steps.push_back({.i = first.i + i, .block = first.block, .tap = first.tap});
          lists_[v].weights.insert(lists_[v].weights.end(), excess, excess + kVector);
        }
  }

  double excess() const {
    i64 steps = 0;
    for (const auto& list : lists_) steps += std::ssize(list.steps);
    return static_cast<double>(steps) / static_cast<double>(std::ssize(lists_));
  }

  static constexpr i64 kWordsToJudge = 64;

  Word* first_;
  const PanelSteps& order_;
  i64 count_;
  std::span<PairExcesses::List> lists_;
};

void set_groups(PairExcesses::List& list) {
  const auto count = std::ssize(list.steps);
  i64 step = 0;
  for (Group group; step < count; ++step) {
    const auto* excess = list.weights.data() + step * kVector;
    if (group.add(excess)) continue;
    list.ends.push_back(step);
    group = {};
    group.add(excess);
  }
  if (step > 0) list.ends.push_back(step);
}

PairExcesses::Half half_of(Word* first, const PanelSteps& order, bool alike) {
  const auto words = order.size();
  std::vector<Word> before(words * kHalf);
  for (i64 i = 0; i < words; ++i) std::copy_n(first + i * kColumns, kHalf, before.begin() + i * kHalf);
  PairExcesses::Half half;
  const auto done = [&](bool fits) {
    if (!fits) {
      for (i64 i = 0; i < words; ++i) std::copy_n(before.begin() + i * kHalf, kHalf, first + i * kColumns);
      half = {};
    }
    for (auto& list : half.lists) set_groups(list);
    return fits;
  };
  const bool picks = can_pick(order);
  if ((alike || !picks) && done(Columns(first, order, half.lists).pair_all(picks ? kMostBesideOthers : kMostExcess)))
    return half;
  const auto each = [&](i64 v) {
    return Columns(first + v * kVector, order, std::span(half.lists).subspan(v, 1)).pair_all(kMostExcess);
  };
  half.fits = picks && done(each(0) && each(1));
  return half;
}

}  // namespace

PairExcesses PairExcesses::none(i64 count) {
  PairExcesses all;
  if (narrow_isa().adds_pairs) all.lists_.resize(count * kVectors);
  return all;
}

PairExcesses::PairExcesses(Word* panels, i64 count, const PanelSteps& order, ThreadPool& pool) {
  if (!narrow_isa().adds_pairs || count == 0) return;
  halves_.resize(count * kHalves);
  const auto fit = [&](i64 i, bool alike) {
    halves_[i] = half_of(panels + i / kHalves * order.size() * kColumns + i % kHalves * kHalf, order, alike);
  };
  fit(0, true);
  const auto& first = halves_[0];
  const bool alike = first.fits && first.lists[1].picks.empty();
  parallel(pool, std::ssize(halves_) - 1, [&](i64 i) { fit(i + 1, alike); });
  const auto data = [](const auto& v) { return v.empty() ? nullptr : v.data(); };
  for (const auto& half : halves_)
    for (const auto& list : half.lists)
      lists_.push_back({.fits = half.fits,
                        .picks = data(list.picks.empty() ? half.lists[0].picks : list.picks),
                        .steps = list.steps.data(),
                        .weights = list.weights.data(),
                        .ends = list.ends.data(),
                        .groups = std::ssize(list.ends)});
}

}  // namespace ovir::fast
