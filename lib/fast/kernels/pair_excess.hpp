// i8 weights for an instruction that adds the products of u8 by two i8 within 16 bits: pairs of one sign whose absolute
// values add up to more than 128 may leave those.
#pragma once
#include <array>
#include <vector>

#include "base/thread_pool.hpp"
#include "fast/isa/narrow.hpp"
#include "fast/kernels/buffer.hpp"

namespace ovir::fast {

/// Of all panels' excesses, four each, those of the panel with this column; null where there are none.
inline const PairExcess* excess_of_panel(const PairExcess* all, i64 column) {
  return all ? all + column / kColumns * 4 : nullptr;
}

/// Packed weights whose pairs fit: each channel is paired with its neighbor, or with another one of sixteen. What is
/// beyond 128 in pairs nevertheless is taken out of them and kept beside them, so that sums stay exact.
class PairExcesses {
 public:
  PairExcesses() = default;
  /// `count` panels, [step][32], by so many rows or pixels; 0: any number. Of 16 columns where it does not pay nothing
  /// is changed, nor where the machine multiplies otherwise.
  PairExcesses(Word* panels, i64 count, const PanelSteps& order, i64 rows, ThreadPool& pool);
  /// Whether picks of each column pay, by so many rows; belongs to the name of weights that are shared.
  static bool by_column(i64 rows);
  /// Of any weights of so many panels, by levels that pairs_fit().
  static PairExcesses none(i64 count);
  /// Whether levels are so small that no pair of products leaves 16 bits.
  static bool pairs_fit(float max_level) { return max_level <= 128; }

  /// Those of panel i from [4 · i] on, for 8 columns each; null: the machine multiplies otherwise.
  const PairExcess* data() const { return lists_.empty() ? nullptr : lists_.data(); }

  /// What PairExcess of 8 columns refers to.
  struct List {
    std::vector<Word> picks;  // none: neighbors are paired; of each step, or of each step and column
    std::vector<PairExcess::Step> steps;
    std::vector<Word> weights;
    std::vector<i64> ends;
  };
  /// 16 columns; the second list has no picks where both have the same.
  struct Half {
    bool fits = true, by_column = false, halved = false;
    std::array<List, 2> lists;
  };

 private:
  std::vector<Half> halves_;
  std::vector<PairExcess> lists_;
};

/// Packed weights and what is beyond their pairs.
struct PackedU8 {
  Buffer packed{};
  PairExcesses excesses{};

  const Word* words() const { return reinterpret_cast<const Word*>(packed.data()); }
};

}  // namespace ovir::fast
