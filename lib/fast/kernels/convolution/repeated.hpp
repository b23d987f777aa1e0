// RepeatedEpilogue: of a convolution whose pixels have the outputs of several, one after another.
#pragma once
#include <array>

#include "fast/kernels/epilogue.hpp"

namespace ovir::fast {

/// `by_output`, whose bias and slopes are those of `outputs` channels, for `times` as many, at most 2 · kColumns.
class RepeatedEpilogue {
 public:
  RepeatedEpilogue(const Epilogue& by_output, i64 outputs, i64 times) : epilogue_(by_output) {
    for (i64 i = 0; i < times * outputs; ++i) {
      if (by_output.bias) bias_[i] = by_output.bias[i % outputs];
      if (by_output.slopes) slopes_[i] = by_output.slopes[i % outputs];
    }
    if (by_output.bias) epilogue_.bias = bias_.data();
    if (by_output.slopes) epilogue_.slopes = slopes_.data();
  }
  RepeatedEpilogue(const RepeatedEpilogue&) = delete;
  RepeatedEpilogue& operator=(const RepeatedEpilogue&) = delete;

  const Epilogue& get() const { return epilogue_; }

 private:
  std::array<float, 2 * kColumns> bias_{}, slopes_{};
  Epilogue epilogue_;
};

}  // namespace ovir::fast
