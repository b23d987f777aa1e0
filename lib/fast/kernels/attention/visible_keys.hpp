// Which keys are worth multiplying by: beside those that a mask leaves to some queries in a row, probabilities are 0.
#pragma once
#include "fast/kernels/attention/attention.hpp"

namespace ovir::fast {

/// Keys [begin, end).
struct KeyRange {
  i64 begin, end;
  i64 count() const { return end - begin; }
};

/// Those outside have a probability of 0 for each of `count` queries, of which the first is `first` and the mask's
/// first: results are the same bits as with all keys. `bound`: no score, scaled but not masked, is further from 0; not
/// finite where a key or a value is not. Both ends are multiples of 64, in bf16 of kKeys, or the end is s.keys.
KeyRange visible_keys(const AttentionShape& s, const MaskView& mask, i64 first, i64 count, float bound);

}  // namespace ovir::fast
