#include "fast/kernels/pair_excess.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <span>

#include "fast/kernels/channel_pairs.hpp"
#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kVector = 8, kVectors = kColumns / kVector;  // columns of a list, and lists of a panel
constexpr i64 kHalf = ChannelPairs::kMostColumns, kHalves = kColumns / kHalf;
/// Vectors of words with an excess, which take a step more, as a part of all.
constexpr double kMostExcess = 0.40;
/// From where on 8 columns are better paired alone, which takes a shuffle more for 16.
constexpr double kMostBesideOthers = 0.13;
/// From where on each of them is better paired by itself, whose picks take as much memory as its weights.
constexpr double kMostBesideColumns = 0.06;
/// By fewer rows the weights' memory takes longer than their products.
constexpr i64 kFewestByColumn = 100;

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

/// visit(place of its first step, its steps, i of NarrowSum, block, tap) for each up to four steps of a run, until that
/// is false.
template <class Visit>
bool each_four(const PanelSteps& order, const Visit& visit) {
  i64 at = 0;
  for (i64 block = 0; block < order.blocks; ++block)
    for (i64 tap = 0, run = block + 1 < order.blocks ? order.steps : order.last_steps; tap < order.taps; ++tap)
      for (i64 i = 0; i < run; i += 4) {
        const auto steps = std::min<i64>(4, run - i);
        const PairExcess::Step first{.i = static_cast<std::uint32_t>(i),
                                     .block = static_cast<std::uint16_t>(block),
                                     .tap = static_cast<std::uint16_t>(tap)};
        if (!visit(at, steps, i - first_of_four(i, run), first)) return false;
        at += steps;
      }
  return true;
}

using Channels = std::array<std::uint8_t, ChannelPairs::kChannels>;

/// Those of four words whose weights are not all 0, and how many these are.
i64 used_channels(const Word* words, Channels& to) {
  i64 count = 0;
  for (i64 i = 0; i < 4; ++i) {
    Word any = 0;
    for (i64 o = 0; o < kVector; ++o) any |= words[i * kColumns + o];
    for (i64 c = 0; c < 4; ++c)
      if ((any >> 8 * c & 255) != 0) to[count++] = static_cast<std::uint8_t>(4 * i + c);
  }
  return count;
}

/// Whether of each sixteen channels 8 columns need half at most, as those of small groups do.
bool can_halve(const Word* first, const PanelSteps& order) {
  return each_four(order, [&](i64 at, i64 steps, i64, const PairExcess::Step&) {
    Channels channels;
    return steps == 4 && used_channels(first + at * kColumns, channels) <= ChannelPairs::kChannels / 2;
  });
}

/// Columns of a panel whose channels are paired, alike or not.
class Columns {
 public:
  /// 8 columns for each list. `halved`: those of a list can_halve(); `by_column`: of one list, each column has picks.
  Columns(Word* first, const PanelSteps& order, bool halved, bool by_column, std::span<PairExcesses::List> lists)
      : first_(first),
        order_(order),
        halved_(halved),
        by_column_(by_column),
        count_(std::ssize(lists) * kVector),
        lists_(lists) {}

  /// False, and not done, where more than this part of the words has an excess.
  bool pair_all(double most) {
    const bool picks = can_pick(order_);
    return each_four(order_, [&](i64 at, i64 steps, i64 before, const PairExcess::Step& first) {
      if (by_column_) pair_by_column(at, steps, before, first);
      else pair(at, steps, before, first, picks);
      const auto done = at + steps, multiplied = halved_ ? done / 2 : done;
      const bool judged = done >= kWordsToJudge || done == order_.size();
      return !judged || excess() <= most * static_cast<double>(multiplied);
    });
  }

 private:
  /// As pair() of each column by itself: the largest weight with the least.
  void pair_by_column(i64 at, i64 steps, i64 before, const PairExcess::Step& first) {
    auto* const words = first_ + at * kColumns;
    auto& picks = lists_[0].picks;
    const auto begin = std::ssize(picks), channels = halved_ ? ChannelPairs::kChannels / 2 : 4 * steps;
    picks.resize(begin + steps * kVector);
    Channels used;
    std::iota(used.begin(), used.end(), std::uint8_t{0});
    if (halved_) find_used(words, used);
    Excesses excesses{};
    bool any = false;
    for (i64 o = 0; o < kVector; ++o) {
      std::array<int, ChannelPairs::kChannels> weights{};
      auto order = used;
      for (i64 i = 0; i < channels; ++i) weights[used[i]] = byte(words[used[i] / 4 * kColumns + o], used[i] % 4);
      std::sort(order.begin(), order.begin() + channels, [&](int a, int b) {
        return weights[a] != weights[b] ? weights[a] < weights[b]
                                        : a < b;  // which needs no memory as a stable sort does
      });
      for (i64 i = 0; i < steps; ++i) words[i * kColumns + o] = 0;
      for (i64 place = 0; place < channels; ++place) {
        const auto c = order[place % 2 == 0 ? place / 2 : channels - 1 - place / 2];
        const auto partner = order[place % 2 == 0 ? channels - 1 - place / 2 : place / 2];
        if (place % 2 == 0)
          if (const int excess = pair_excess(weights[c], weights[partner]); excess != 0) {
            weights[c] -= excess;
            excesses[c % 2][c / 4][o] |= Word{static_cast<std::uint8_t>(excess)} << c % 4 * 8;
            any = true;
          }
        words[place / 4 * kColumns + o] |= Word{static_cast<std::uint8_t>(weights[c])} << place % 4 * 8;
        picks[begin + place / 4 * kVector + o] |= static_cast<Word>(4 * before + c) << place % 4 * 8;
      }
    }
    if (any) keep(excesses, steps, first);
  }

  /// Some steps from place `at` on; what is picked lies up to `before` words before the first of them.
  void pair(i64 at, i64 steps, i64 before, const PairExcess::Step& first, bool picks) {
    auto* const words = first_ + at * kColumns;
    const auto used = halved_ ? 2 : steps;
    Channels channels;
    std::iota(channels.begin(), channels.end(), std::uint8_t{0});
    std::array<Word, 2 * kColumns> gathered;
    if (halved_) {
      find_used(words, channels);
      gather(words, channels, gathered);
    }
    const ChannelPairs weights(halved_ ? gathered.data() : words, used, count_);
    const auto partners = picks ? weights.partners() : ChannelPairs::kNeighbors;
    std::array<ChannelPairs::Row, ChannelPairs::kChannels> rows{};
    Channels order{};
    Excesses excesses{};
    bool any = false;
    i64 place = 0;
    for (i64 a = 0; a < weights.channels(); ++a) {
      const i64 b = partners[a];
      if (b < a) continue;
      order[place] = channels[a];
      order[place + 1] = channels[b];
      rows[place] = weights.row(a);
      rows[place + 1] = weights.row(b);
      if (weights.misfits(a, b) > 0) {
        const bool of_a = channels[a] % 2 == 0 || channels[b] % 2 == 1;
        take_excess(rows[of_a ? place : place + 1], rows[of_a ? place + 1 : place], channels[of_a ? a : b], excesses);
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

  /// The half of the channels that is used, and others, whose weights are 0, where there is room.
  static void find_used(const Word* words, Channels& channels) {
    const auto count = used_channels(words, channels);
    for (i64 c = count, next = 0; c < ChannelPairs::kChannels / 2; ++next)
      if (std::find(channels.begin(), channels.begin() + count, next) == channels.begin() + count)
        channels[c++] = static_cast<std::uint8_t>(next);
  }

  /// Brings them into two words.
  void gather(const Word* words, const Channels& channels, std::array<Word, 2 * kColumns>& to) const {
    to = {};
    for (i64 c = 0; c < ChannelPairs::kChannels / 2; ++c)
      for (i64 o = 0; o < count_; ++o)
        to[c / 4 * kColumns + o] |= (words[channels[c] / 4 * kColumns + o] >> 8 * (channels[c] % 4) & 255)
                                    << 8 * (c % 4);
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
  bool halved_, by_column_;
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

PairExcesses::Half half_of(Word* first, const PanelSteps& order, bool alike, bool columns) {
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
  const bool picks = can_pick(order), halved = picks && can_halve(first, order) && can_halve(first + kVector, order);
  const auto most = picks ? kMostBesideOthers : kMostExcess;
  if ((alike || !picks) && !halved && done(Columns(first, order, false, false, half.lists).pair_all(most))) return half;
  const auto each = [&](bool by_column, double most_here) {
    const auto pair = [&](i64 v) {
      return Columns(first + v * kVector, order, halved, by_column, std::span(half.lists).subspan(v, 1))
          .pair_all(most_here);
    };
    return picks && done(pair(0) && pair(1));
  };
  const bool by_vector = each(false, columns ? kMostBesideColumns : kMostExcess),
             by_column = !by_vector && columns && each(true, kMostExcess);
  half.fits = by_vector || by_column;
  half.by_column = by_column;
  half.halved = half.fits && halved;
  return half;
}

}  // namespace

PairExcesses PairExcesses::none(i64 count) {
  PairExcesses all;
  if (narrow_isa().adds_pairs) all.lists_.resize(count * kVectors);
  return all;
}

bool PairExcesses::by_column(i64 rows) { return narrow_isa().adds_pairs && (rows == 0 || rows >= kFewestByColumn); }

PairExcesses::PairExcesses(Word* panels, i64 count, const PanelSteps& order, i64 rows, ThreadPool& pool) {
  if (!narrow_isa().adds_pairs || count == 0) return;
  halves_.resize(count * kHalves);
  const auto fit = [&](i64 i, bool alike) {
    halves_[i] =
        half_of(panels + i / kHalves * order.size() * kColumns + i % kHalves * kHalf, order, alike, by_column(rows));
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
                        .by_column = half.by_column,
                        .halved = half.halved,
                        .steps = list.steps.data(),
                        .weights = list.weights.data(),
                        .ends = list.ends.data(),
                        .groups = std::ssize(list.ends)});
}

}  // namespace ovir::fast
