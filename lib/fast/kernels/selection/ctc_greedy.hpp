// The most probable class of every step, blanks and repetitions left out.
#pragma once
#include "base/int.hpp"
#include "tensor/view.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Of data[batch][steps][classes]; sequence n has lengths[n] <= steps.
struct CtcGreedy {
  i64 batch, steps, classes, blank;
  bool merges;  ///< what repeats
};
/// Scratch memory in floats.
i64 ctc_greedy_scratch(const CtcGreedy& c);
/// decoded[batch][steps], filled up with -1, and counts[batch], which may be null: i32 or i64. `lengths`: i32 or i64.
void ctc_greedy(const CtcGreedy& c, const float* data, const View& lengths, const View& decoded, const View* counts,
                float* scratch, ThreadPool& pool);

}  // namespace ovir::fast
