// Saved tensors to compare with: an .npz, a folder of .npy and .pb files, a folder with a manifest of ovir's.
#pragma once
#include <string>
#include <vector>

#include "tools/reference.hpp"

namespace ovir::app {

/// What lies at `path`; the tensors themselves are read when they are asked for. Throws Failure: E0001 where it cannot
/// be opened, E0705 where it holds no tensors.
std::vector<tools::Saved> read_reference(const std::string& path);

}  // namespace ovir::app
