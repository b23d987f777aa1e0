// A model in memory on its way to its two files.
#pragma once
#include <string>

#include "tools/extract.hpp"

namespace ovir::app {

/// Writes `path` and, beside it, the .bin; both appear, or none. Throws Failure (E0002).
void write_model(const std::string& path, const tools::SubModel& model);

}  // namespace ovir::app
