// A chain of elementwise operations whose values are reduced along the last axes: some rows at a time, so that they
// need not leave the cache.
#pragma once
#include "fast/kernels/elementwise/chain.hpp"

namespace ovir::fast {

class ReducedChain {
 public:
  /// Whether a result has so few terms that several results are computed at a time.
  static bool takes(i64 terms);
  /// `inputs` are the shapes of the program's inputs, `values` is that of the chain's values, of whose last axes
  /// `reduced` are reduced.
  ReducedChain(const ChainProgram& program, Reduction what, std::span<const std::span<const i64>> inputs,
               std::span<const i64> values, i64 reduced);

  /// Floats.
  i64 scratch_size(int threads) const;
  void run(std::span<const float* const> inputs, float* out, float* scratch, ThreadPool& pool) const;

 private:
  Reduction what_;
  i64 terms_ = 1;                          ///< of a result
  std::vector<i64> outer_;                 ///< axes before the one of which some places are computed at a time
  i64 length_ = 1, part_ = 1, inner_ = 1;  ///< of that axis; places at a time; results of a place
  std::vector<std::vector<i64>> strides_;  ///< by input, of `outer_` and of that axis
  std::vector<Chain> chains_;              ///< of a part, and of the last one where it is shorter
};

}  // namespace ovir::fast
