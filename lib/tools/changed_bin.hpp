// The .bin of a model in which Constants get other values.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "tools/fix.hpp"

namespace ovir::tools {

/// The change as bytes of the .bin; nothing where another Constant shares some of them.
std::optional<Replacement> in_place(const Model& model, const ConstantChange& change);

/// A .bin in pieces, of which most are views of the old one; and the offsets in the .xml that differ.
struct ChangedBin {
  std::vector<Bytes> pieces;
  std::vector<Replacement> offsets;
};
/// The .bin with all changes: in place where no other Constant shares the bytes, else at the end. Throws Failure
/// (E0302) where a Constant's bytes are not in the .bin.
ChangedBin changed_bin(const Model& model, std::span<const ConstantChange> changes);

}  // namespace ovir::tools
