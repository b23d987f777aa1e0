// i8 weights for an instruction that adds the products of u8 by two i8 within 16 bits: pairs of one sign whose absolute
// values add up to more than 128 may leave those.
#pragma once
#include <vector>

#include "fast/isa/narrow.hpp"

namespace ovir::fast {

/// Of all panels' excesses, four each, those of the panel with this column; null where there are none.
inline const PairExcess* excess_of_panel(const PairExcess* all, i64 column) {
  return all ? all + column / kColumns * 4 : nullptr;
}

/// What is beyond 128 in such pairs, taken out of the packed weights and kept beside them, so that sums stay exact.
class PairExcesses {
 public:
  PairExcesses() = default;
  /// `count` panels, [step][32]. Where there is too much of it to pay, or the machine multiplies otherwise, nothing is
  /// taken.
  PairExcesses(Word* panels, i64 count, const PanelSteps& order);
  /// Of any weights of so many panels, by levels that pairs_fit().
  static PairExcesses none(i64 count);
  /// Whether levels are so small that no pair of products leaves 16 bits.
  static bool pairs_fit(float max_level) { return max_level <= 128; }

  /// Those of panel i from [4 · i] on, for 8 columns each; null: nothing was taken.
  const PairExcess* data() const { return lists_.empty() ? nullptr : lists_.data(); }

 private:
  std::vector<PairExcess::Step> steps_;
  std::vector<Word> weights_;  // 8 for each of them
  std::vector<i64> ends_;      // of groups of a list's steps
  std::vector<PairExcess> lists_;
};

}  // namespace ovir::fast
