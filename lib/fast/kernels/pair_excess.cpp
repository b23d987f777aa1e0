#include "fast/kernels/pair_excess.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace ovir::fast {
namespace {

constexpr i64 kVector = 8, kVectors = kColumns / kVector;  // columns of a list, and lists of a panel
/// Weights of one sign that are multiplied by u8 and added up within 16 bits.
constexpr int kMostOfPair = 128;
/// Vectors of words with an excess, which take a step more, as a part of all.
constexpr double kMostExcess = 0.40;

int byte(Word word, int i) { return static_cast<std::int8_t>(word >> 8 * i); }

/// What is beyond that in the pairs of a word, as part of their first bytes.
Word excess_of(Word word) {
  Word excess = 0;
  for (int i = 0; i < 4; i += 2) {
    const auto a = byte(word, i), b = byte(word, i + 1), beyond = std::abs(a) + std::abs(b) - kMostOfPair;
    if (beyond > 0 && (a < 0) == (b < 0)) excess |= Word{static_cast<std::uint8_t>(a < 0 ? -beyond : beyond)} << 8 * i;
  }
  return excess;
}

/// Byte by byte.
Word without(Word word, Word excess) {
  Word rest = 0;
  for (int i = 0; i < 4; ++i) rest |= Word{static_cast<std::uint8_t>(byte(word, i) - byte(excess, i))} << 8 * i;
  return rest;
}

/// What the excesses of a list's steps add up to, by pair and sign, as long as their products fit 16 bits.
class Group {
 public:
  /// False where those of the step do not fit beside the others.
  bool add(const Word* weights) {
    auto all = sums_;
    for (i64 c = 0; c < kVector; ++c)
      for (int pair = 0; pair < 2; ++pair) {
        const auto excess = byte(weights[c], 2 * pair);
        auto& sum = all[excess < 0][2 * c + pair];
        sum += std::abs(excess);
        if (sum > kMostOfPair) return false;
      }
    sums_ = all;
    return true;
  }

 private:
  std::array<std::array<int, 2 * kVector>, 2> sums_{};
};

PairExcess::Step step_at(const PanelSteps& order, i64 place) {
  const auto block = std::min(place / (order.steps * order.taps), order.blocks - 1);
  const auto inside = place - block * order.steps * order.taps,
             steps = block + 1 < order.blocks ? order.steps : order.last_steps;
  return {static_cast<std::uint32_t>(inside % steps), static_cast<std::uint16_t>(block),
          static_cast<std::uint16_t>(inside / steps)};
}

}  // namespace

PairExcesses PairExcesses::none(i64 count) {
  PairExcesses all;
  if (narrow_isa().adds_pairs) all.lists_.resize(count * kVectors);
  return all;
}

PairExcesses::PairExcesses(Word* panels, i64 count, const PanelSteps& order) {
  if (!narrow_isa().adds_pairs) return;
  const auto words = order.size(), lists = count * kVectors;
  const auto most = kMostExcess * static_cast<double>(lists * words);
  const auto columns = [&](i64 list) {
    return panels + list / kVectors * words * kColumns + list % kVectors * kVector;
  };
  std::vector<i64> places, ends;  // of the steps in their panels, and of the lists
  for (i64 list = 0; list < lists; ++list) {
    const auto* from = columns(list);
    for (i64 place = 0; place < words; ++place, from += kColumns) {
      Word excess[kVector], any = 0;
      for (i64 c = 0; c < kVector; ++c) any |= excess[c] = excess_of(from[c]);
      if (any == 0) continue;
      places.push_back(place);
      steps_.push_back(step_at(order, place));
      weights_.insert(weights_.end(), excess, excess + kVector);
    }
    ends.push_back(std::ssize(places));
    if (static_cast<double>(places.size()) <= most) continue;
    *this = {};
    return;
  }
  std::vector<i64> groups;  // of all lists so far, by list
  for (i64 list = 0, step = 0; list < lists; ++list) {
    const auto first = step;
    for (Group group; step < ends[list]; ++step) {
      const auto* weights = weights_.data() + step * kVector;
      auto* from = columns(list) + places[step] * kColumns;
      for (i64 c = 0; c < kVector; ++c) from[c] = without(from[c], weights[c]);
      if (group.add(weights)) continue;
      ends_.push_back(step - first);
      group = {};
      group.add(weights);
    }
    if (step > first) ends_.push_back(step - first);
    groups.push_back(std::ssize(ends_));
  }
  for (i64 list = 0; list < lists; ++list) {
    const auto step = list > 0 ? ends[list - 1] : 0, group = list > 0 ? groups[list - 1] : 0;
    lists_.push_back({.steps = steps_.data() + step,
                      .weights = weights_.data() + step * kVector,
                      .ends = ends_.data() + group,
                      .groups = groups[list] - group});
  }
}

}  // namespace ovir::fast
