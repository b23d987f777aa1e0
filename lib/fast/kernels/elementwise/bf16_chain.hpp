// Chains of elementwise operations on blocked bf16, each on the result of the one before: in registers, so that values
// are read and rounded once.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "fast/isa/narrow.hpp"
#include "fast/kernels/elementwise/chain.hpp"

namespace ovir::fast {

class Bf16Chain {
 public:
  /// Nothing where a program goes another way, or has operations that the loops do not.
  static std::optional<Bf16Chain> of(const ChainProgram& program, std::span<const Extent> extents);

  struct Sizes {
    i64 batch, blocks, plane;
  };
  /// `by_image`: by operand by channel, whether each image has its own. `out` may be one of the full operands.
  void run(std::span<const void* const> inputs, const std::vector<bool>& by_image, std::uint16_t* out,
           const Sizes& sizes, ThreadPool& pool) const;

 private:
  struct Step {
    Bf16ElementStep what;
    int operand;  ///< of the program; -1: none
  };
  std::vector<Step> steps_;
  std::vector<Extent> extents_;
  int first_ = 0;  ///< the operand that the chain begins with
};

}  // namespace ovir::fast
