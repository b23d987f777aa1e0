// A layer in the JSON of the debugging commands.
#pragma once
#include "model/model.hpp"
#include "render/json.hpp"

namespace ovir::app {

/// {"id", "name", "type", "path"}, the name with its body's path.
Json layer_json(const Model& model, const Node& node);

}  // namespace ovir::app
