// What a run must hold, told from static shapes before anything is computed.
#pragma once
#include <cstdint>

#include "model/model.hpp"

namespace ovir::passes {

/// A layer's outputs and how many bytes they take, all at the same time.
struct PlannedBytes {
  i64 bytes = 0;               ///< INT64_MAX where 64 bits cannot count them
  const Node* node = nullptr;  ///< null: nothing is known to be computed
};

/// The most that one layer of the model will allocate for certain. Counted are outputs of static shape that somebody
/// reads and that are more than what the layer was given (others may be views of it). What a value known beforehand
/// stands for is not computed; neither, perhaps, is what lies in a body.
PlannedBytes planned_bytes(const Model& model, const Facts& facts);

}  // namespace ovir::passes
