// A trap that a run ended in, as JSON.
#pragma once
#include "render/json.hpp"
#include "tools/traps.hpp"

namespace ovir::app {

/// {"schema": 1, "trap", "layer", "port", "index", "operands": [{"port", "value"}], "cause"}, and more.
Json trap_json(const tools::TrapEvent& event);

}  // namespace ovir::app
