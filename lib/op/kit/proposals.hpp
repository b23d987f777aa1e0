// Region proposals: anchors moved by deltas, the best of them that don't overlap too much.
#pragma once
#include <cstdint>
#include <vector>

#include "base/int.hpp"

namespace ovir {

struct Proposal {
  float x0, y0, x1, y1, score;
  bool large_enough;
};

/// What an image asks of its proposals.
struct ProposalLimits {
  float image_height = 0, image_width = 0, min_height = 0, min_width = 0;
  float pixel = 1;  ///< what the last pixel of a box adds to its size: 0 where coordinates are normalized
};

/// Anchor `a` of cell `i`: anchors[(i * count + a) * 4], deltas[(a * 4 + k) * cells + i], scores[a * cells + i].
std::vector<Proposal> decode_proposals(const float* anchors, const float* deltas, const float* scores, i64 cells,
                                       i64 count, const ProposalLimits& limits);

/// How a box is moved: its center by a part of its size, its size by a factor.
void move_box(float (&box)[4], const float (&delta)[4], float max_log, float pixel);

/// Keeps the `before` best, drops those that a better one overlaps by more than `threshold`, then keeps the first
/// `after`. With eta < 1 the threshold falls while it is above one half.
std::vector<Proposal> select_proposals(std::vector<Proposal> proposals, i64 before, i64 after, float threshold,
                                       float eta, float pixel);

}  // namespace ovir
