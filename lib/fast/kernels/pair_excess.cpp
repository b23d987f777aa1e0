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
void set_byte(Word& word, i64 i, int value) {
  word = (word & ~(Word{255} << 8 * i)) | Word{static_cast<std::uint8_t>(value)} << 8 * i;
}

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
        if (sum > kMost) return false;
      }
    sums_ = all;
    return true;
  }

 private:
  static constexpr int kMost = 128;
  std::array<std::array<int, 2 * kVector>, 2> sums_{};
};

/// Columns of a panel whose channels are paired alike.
class Columns {
 public:
  /// 8 columns for each list.
  Columns(Word* first, const PanelSteps& order, std::span<PairExcesses::List> lists)
      : first_(first), count_(std::ssize(lists) * kVector), lists_(lists) {
    // Sixteen bytes are read at once, none of them beyond a run.
    const bool picks = order.blocks > 1 || order.last_steps >= 4;
    for (i64 block = 0, at = 0; block < order.blocks; ++block)
      for (i64 tap = 0, run = block + 1 < order.blocks ? order.steps : order.last_steps; tap < order.taps; ++tap)
        for (i64 i = 0; i < run; i += 4) {
          const auto steps = std::min<i64>(4, run - i);
          pair(at, steps, i - first_of_four(i, run),
               {.i = static_cast<std::uint32_t>(i),
                .block = static_cast<std::uint16_t>(block),
                .tap = static_cast<std::uint16_t>(tap)},
               picks);
          at += steps;
        }
  }

 private:
  /// Some steps from place `at` on; what is picked lies up to `before` words before the first of them.
  void pair(i64 at, i64 steps, i64 before, const PairExcess::Step& first, bool picks) {
    auto* const words = first_ + at * kColumns;
    const ChannelPairs weights(words, steps, count_);
    const auto partners = picks ? weights.partners() : ChannelPairs::kNeighbors;
    // Those of even channels, then of odd ones: so of two bytes that are multiplied as a pair one is 0.
    std::array<std::array<std::array<Word, ChannelPairs::kMostColumns>, 4>, 2> excesses{};
    std::array<Word, 4> picked{};
    i64 place = 0;
    for (i64 a = 0; a < weights.channels(); ++a) {
      const i64 b = partners[a];
      if (b < a) continue;
      const bool of_a = a % 2 == 0 || b % 2 == 1;
      const auto channel = of_a ? a : b;
      for (i64 o = 0; o < count_; ++o) {
        auto wa = weights.weight(a, o), wb = weights.weight(b, o);
        if (const auto excess = pair_excess(wa, wb); excess != 0) {
          (of_a ? wa : wb) -= excess;
          set_byte(excesses[channel % 2][channel / 4][o], channel % 4, excess);
        }
        auto& word = words[place / 4 * kColumns + o];
        set_byte(word, place % 4, wa);
        set_byte(word, place % 4 + 1, wb);
      }
      set_byte(picked[place / 4], place % 4, static_cast<int>(4 * before + a));
      set_byte(picked[place / 4], place % 4 + 1, static_cast<int>(4 * before + b));
      place += 2;
    }
    if (picks) lists_[0].picks.insert(lists_[0].picks.end(), picked.begin(), picked.begin() + steps);
    for (std::uint32_t i = 0; i < steps; ++i)
      for (const auto& bytes : excesses)
        for (i64 v = 0; v < std::ssize(lists_); ++v) {
          const auto* excess = bytes[i].data() + v * kVector;
          if (std::all_of(excess, excess + kVector, [](Word w) { return w == 0; })) continue;
          lists_[v].steps.push_back({.i = first.i + i, .block = first.block, .tap = first.tap});
          lists_[v].weights.insert(lists_[v].weights.end(), excess, excess + kVector);
        }
  }

  Word* first_;
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

PairExcesses::Half half_of(Word* first, const PanelSteps& order) {
  const auto words = order.size();
  std::vector<Word> before(words * kHalf);
  for (i64 i = 0; i < words; ++i) std::copy_n(first + i * kColumns, kHalf, before.begin() + i * kHalf);
  const auto restore = [&] {
    for (i64 i = 0; i < words; ++i) std::copy_n(before.begin() + i * kHalf, kHalf, first + i * kColumns);
  };
  const auto excess = [&](const PairExcesses::Half& half) {
    const auto& [a, b] = half.lists;
    return static_cast<double>(std::ssize(a.steps) + std::ssize(b.steps)) / static_cast<double>(2 * words);
  };
  PairExcesses::Half half;
  Columns(first, order, half.lists);
  if (excess(half) > kMostBesideOthers && !half.lists[0].picks.empty()) {
    restore();
    half = {};
    for (i64 v = 0; v < 2; ++v) Columns(first + v * kVector, order, std::span(half.lists).subspan(v, 1));
  }
  if (excess(half) > kMostExcess) {
    restore();
    half = {};
    half.fits = false;
    return half;
  }
  for (auto& list : half.lists) set_groups(list);
  return half;
}

}  // namespace

PairExcesses PairExcesses::none(i64 count) {
  PairExcesses all;
  if (narrow_isa().adds_pairs) all.lists_.resize(count * kVectors);
  return all;
}

PairExcesses::PairExcesses(Word* panels, i64 count, const PanelSteps& order, ThreadPool& pool) {
  if (!narrow_isa().adds_pairs) return;
  halves_.resize(count * kHalves);
  parallel(pool, std::ssize(halves_), [&](i64 i) {
    halves_[i] = half_of(panels + i / kHalves * order.size() * kColumns + i % kHalves * kHalf, order);
  });
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
