// Of boxes that overlap, the one with the highest score.
#pragma once
#include "base/int.hpp"
#include "tensor/view.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// boxes[batches][count][4], scores[batches][classes][count]; of each class at most `most` boxes.
struct Suppression {
  i64 batches, classes, count, most;
  bool center;    ///< boxes are [x, y, width, height], not two corners
  bool by_score;  ///< results are in the order of scores, not of classes
  float overlap, score;
  i64 lists() const { return batches * classes; }
};
/// Scratch memory in floats: of all, and of each slot.
i64 suppression_scratch(const Suppression& s);
i64 suppression_slot(const Suppression& s);
/// Gives how many boxes are left, which `scratch` then knows.
i64 suppress(const Suppression& s, const float* boxes, const float* scores, float* scratch, float* slots,
             ThreadPool& pool);
/// Rows (batch, class, box) of i32 or i64, as many as `indices` has, what is left of them -1; `selected` (may be null)
/// receives (batch, class, score). `found` is what suppress() gave.
void put_suppressed(const Suppression& s, i64 found, float* scratch, const View& indices, const float* scores,
                    float* selected);

}  // namespace ovir::fast
