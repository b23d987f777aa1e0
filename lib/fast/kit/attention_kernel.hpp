// The kernel of attention, and what it takes of the model around the product of queries and keys.
#pragma once
#include <memory>
#include <vector>

#include "fast/kernels/attention/attention.hpp"
#include "fast/kit/heads.hpp"
#include "fast/kit/score_masks.hpp"
#include "plan/kernel.hpp"

namespace ovir::fast {

/// How operands lie: queries, keys and values, and the output.
struct AttentionPlaces {
  HeadAxes q, k, v, out;
};

/// Operands that may be added to the scores; two are added up before.
inline constexpr std::size_t kMasks = 2;

/// What the kernel takes of the model around a product of queries and keys.
struct AroundAttention {
  AttentionPlaces places{};
  int masks = 0;
  ScoreAxes scores{};  ///< which masks have
  bool causal = false;
  bool sunk = false;          ///< a sink comes behind the masks
  bool grouped = false;       ///< several heads of queries share one of keys and values
  bool several = false;       ///< there must be several keys
  bool bf16 = false;          ///< multiplies in bf16
  bool level_scores = false;  ///< queries and keys are on levels; `factor` is that of steps
  LevelLine q_levels{}, k_levels{};
  bool reads_q_levels = false, reads_k_levels = false;  ///< where they are stored as such
  bool level_values = false;                            ///< probabilities and values are on levels, too
  LevelLine p_levels{}, v_levels{};
  bool reads_v_levels = false;
  float value_scale = 1;         ///< of the products of their steps
  bool nan_is_zero = false;      ///< probabilities that are NaN
  bool unseen_is_zero = false;   ///< probabilities where a mask hides all keys
  std::vector<float> factors{};  ///< of the scores: one for all, or one a head; none: 1/√depth
  float factor = 1;              ///< of them all, too
  std::vector<float> added{};    ///< to them: masks that are known; empty: none
  std::vector<i64> kinds{};      ///< of each batch: which of those it has
  HiddenKeys hidden{};           ///< where the mask is of booleans
  i64 grid_columns = 0;          ///< of the grid in which keys lie, whose numbers are two masks; 0: there is none
};

std::unique_ptr<const Kernel> attention_kernel(AroundAttention around);

}  // namespace ovir::fast
