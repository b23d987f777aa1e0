// MeasuringKernel: a kernel of outputs whose sizes the data decide.
#pragma once
#include <span>

#include "plan/kernel.hpp"

namespace ovir {

/// Where an output's shape is not known before the run, prepare() is given no outputs, and measure() says what it will
/// be; then run() writes as much. Where shapes are known, of other versions of the operation, run() comes alone.
class MeasuringKernel : public Kernel {
 public:
  /// The shape of every output of these inputs; what was found may stay in `state` for run().
  virtual void measure(KernelState& state, std::span<const View> in, std::span<Shape> out, Runtime& runtime) const = 0;
};

}  // namespace ovir
