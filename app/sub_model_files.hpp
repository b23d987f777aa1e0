// A model in memory on its way to its two files.
#pragma once
#include <span>
#include <string>

#include "base/staged_files.hpp"
#include "tools/extract.hpp"

namespace ovir::app {

/// Stages a file that is made of these pieces.
void stage_pieces(StagedFiles& files, const std::string& path, std::span<const Bytes> pieces);
/// Writes `path` and, beside it, the .bin; both appear, or none. Throws Failure (E0002).
void write_model(const std::string& path, const tools::SubModel& model);

}  // namespace ovir::app
