// A layer's attributes from text to the struct of its operation version.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.hpp"
#include "model/model.hpp"

namespace ovir::passes {

/// Throws a Failure about an attribute of the layer at hand; `meant`: values that may have been meant, which become
/// remedies behind the others; `entry`: which one of a list is at fault.
[[noreturn]] void fail_attribute(std::string_view attribute, Code code, std::string message,
                                 const std::vector<std::string>& meant = {}, std::vector<Remedy> remedies = {},
                                 std::optional<std::size_t> entry = {});
/// Attributes from text to the version's struct; every fault of the layer is reported. Null where there is one.
std::shared_ptr<const void> parse_attributes(const Model& model, const Layer& layer, const OpDef& op,
                                             const Version& version, Diagnostics& diagnostics);
/// Whether what the layer's attributes say, and those that it leaves out, means the same in another version of its
/// operation: what `other` has no attribute for must be at its default.
bool keeps_attributes(const Layer& layer, const Version& version, const Version& other);

}  // namespace ovir::passes
