// Cases that travel packed: .tgz files of a folder's cases.
#pragma once
#include <filesystem>

namespace ovir::conformance {

/// Writes the files of a gzipped tar archive into `folder`. Throws std::runtime_error where it is damaged.
void extract(const std::filesystem::path& archive, const std::filesystem::path& folder);

}  // namespace ovir::conformance
