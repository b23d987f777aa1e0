// Metrics: how far a tensor is from its reference, element by element and as a whole.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tensor/tensor.hpp"

namespace ovir::tools {

/// |value - reference| ≤ atol + rtol · |reference|, as NumPy's isclose has it. Integers, booleans and strings must be
/// equal unless `atol` is given.
struct Tolerance {
  double rtol = 1e-3;
  std::optional<double> atol;  ///< nothing: kRelativeAtol of the largest magnitude in the reference
};
inline constexpr double kRelativeAtol = 1e-5;

/// Elements that are NaN, or infinite, on one side only (or infinite with another sign).
struct OneSided {
  i64 value = 0;             ///< in the tensor, but not in its reference
  i64 reference = 0;         ///< the other way round
  std::optional<i64> first;  ///< position of the first, row-major
};

struct Difference {
  std::string
      unlike;      ///< why there is nothing to compare element by element ("shape [2,3], but [3,2] in ..."), or empty
  i64 count = 0;   ///< elements
  i64 beyond = 0;  ///< those outside of the tolerance
  i64 worst = 0;   ///< position of the one furthest outside, else of the largest difference
  bool within = true;

  // Of elements that are finite on both sides.
  double max_abs = 0;
  double max_rel = 0;  ///< |difference| / |reference|, where the reference is not 0
  double rmse = 0;
  std::optional<i64> ulp;        ///< units of the last place of the narrower type; nothing for other types than floats
  std::optional<double> cosine;  ///< nothing where a side is all zeros
  std::optional<double> psnr;    ///< in dB, of the reference's range; nothing where the difference or the range is 0
  OneSided nan, inf;
  bool equal() const {
    return unlike.empty() && beyond == 0 && max_abs == 0 && nan.first == std::nullopt && inf.first == std::nullopt;
  }
};

Difference measure(const Tensor& value, const Tensor& reference, const Tolerance& tolerance);

/// The share of rows of the last axis longer than 1 whose `k` largest elements stand in the same places (of equal ones
/// the earlier count); nothing for what has no rows.
std::optional<double> top_agreement(const Tensor& value, const Tensor& reference, i64 k);

/// Row-major position as an index: {1, 0, 3}.
std::vector<i64> index_of(i64 position, const Shape& shape);

}  // namespace ovir::tools
