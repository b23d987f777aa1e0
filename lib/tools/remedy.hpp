// From a remedy, which speaks of layers, ports and attributes, to the changes of the files that make it so.
#pragma once
#include <optional>
#include <string_view>

#include "tools/fix.hpp"

namespace ovir::tools {

/// The changes that `remedy` of `d` means. Nothing where it cannot be done: what it speaks of is not there.
std::optional<Edits> edits_of(const Model& model, const Diagnostic& d, const Remedy& remedy);

/// The changed value of a Constant. Nothing where its value is not known. Throws Failure E0705 where `values` do not
/// fit its type and number of elements.
std::optional<ConstantChange> change_constant(const Model& model, const Node& node, std::string_view values);

}  // namespace ovir::tools
