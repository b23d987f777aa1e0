// Saved tensors to compare with: an .npz, a folder of .npy and .pb files, a folder with a manifest of ovir's.
#pragma once
#include <string>
#include <vector>

#include "cli.hpp"
#include "tools/reference.hpp"

namespace ovir::app {

/// What lies at `path`; the tensors themselves are read when they are asked for. Throws Failure: E0001 where it cannot
/// be opened, E0705 where it holds no tensors.
std::vector<tools::Saved> read_reference(const std::string& path);

/// The same by the places of a model that they belong to; `map`: a file that renames, or empty. Throws Failure (E0705)
/// also where none belongs to the model.
tools::Reference saved_reference(const Common& common, const Model& model, const std::string& path,
                                 const std::string& map = {});

}  // namespace ovir::app
