// A mixture of experts: each token is computed by the few experts whose weight for it is not 0, and theirs are added
// up by these weights.
#pragma once
#include <span>
#include <vector>

#include "base/int.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Rows that are computed at once: all tokens of an expert or, where experts have one token each, those of several.
/// Row i is token tokens[i] for expert experts[i].
struct ExpertRows {
  std::vector<i64> experts, tokens;  ///< in ascending order of the experts
  /// Rows of each expert.
  i64 together = 0;

  i64 count() const { return std::ssize(experts); }
};

/// Goes through the experts in order.
class ExpertRouting {
 public:
  /// At most so many rows are computed at once.
  static i64 most_rows(i64 tokens);

  /// `weights`: [experts][tokens].
  ExpertRouting(const float* weights, i64 experts, i64 tokens)
      : weights_(weights), experts_(experts), tokens_(tokens) {}

  /// The next rows; false where there are none left.
  bool next(ExpertRows& rows);
  float weight(i64 expert, i64 token) const { return weights_[expert * tokens_ + token]; }

 private:
  i64 rows_of(i64 expert) const;

  const float* weights_;
  i64 experts_, tokens_;
  i64 expert_ = 0;  ///< the next one
};

/// to[i] = from[rows.tokens[i]], of `columns` numbers.
void gather_tokens(const ExpertRows& rows, const float* from, i64 columns, float* to, ThreadPool& pool);

/// to[rows.tokens[i]] += weight · (from[i] + bias of its expert), of `columns` numbers, in the order of the rows.
/// `bias`: [experts][columns]; null: none.
void add_weighted(const ExpertRows& rows, const ExpertRouting& routing, const float* from, const float* bias,
                  i64 columns, float* to, ThreadPool& pool);

}  // namespace ovir::fast
