// Static input shapes that the model accepts, for inputs whose shapes are not fully known; found by shape inference
// alone.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "passes/passes.hpp"

namespace ovir::tools {

/// One shape for each Parameter, in file order. `options.shapes` are the shapes to begin with, where they are not those
/// of the file. A dim that is not known is as short as possible, but not 0; the same axis of several inputs has the
/// same length where the model accepts that, and the length of an input whose shape is given, where one has that axis.
/// Nothing where an input's rank is unknown or no accepted shapes were found.
std::optional<std::vector<Shape>> sample_shapes(const Model& model, const passes::InferOptions& options);

/// Input shapes near some that the model refuses.
struct NearestShapes {
  std::optional<std::vector<Shape>> below, above;  ///< of every Parameter; accepted by the model
};
/// `refused`: the shapes of options.shapes that were asked for, all static, by Parameter. Dims that were asked to have
/// the same length change together. Nothing where neither side was found.
NearestShapes nearest_shapes(const Model& model, const std::map<int, Shape>& refused);

}  // namespace ovir::tools
