// What `ovir diff` prints.
#pragma once
#include <string>

#include "render/json.hpp"
#include "render/style.hpp"
#include "tools/diff.hpp"

namespace ovir::app {

/// A line for a layer that was removed or added; for one that differs its name, and a line a difference.
std::string diff_text(const tools::ModelDifference& difference, const Style& style);
/// "1 layer removed, 2 added, 3 changed".
std::string diff_summary(const tools::ModelDifference& difference);
Json diff_json(const tools::ModelDifference& difference);

/// A model as text whose lines change only where the model does: names in place of ids, no offsets, no blanks that
/// could differ. For git's textconv.
std::string canonical_text(const Model& model);

}  // namespace ovir::app
