// --random: data for an input, within the range that its users allow.
#pragma once
#include <cstdint>
#include <string>

#include "ovir.hpp"

namespace ovir::app {

struct RandomInput {
  Tensor tensor;
  std::string how;  ///< "random in [0, 1)", "all 1"
};

/// Floats lie in [0, 1), booleans and integers are 0 or 1; integers that end as indices of a Gather or its like lie
/// within the axis that they index; a mask is all 1. The same seed, model and input give the same data.
RandomInput random_input(const Model& model, const Facts& facts, int parameter, const Shape& shape, std::uint64_t seed);

}  // namespace ovir::app
