// What an operation's version says of an input of a node.
#pragma once
#include <optional>
#include <string_view>

#include "model/model.hpp"

namespace ovir::tools {

/// The last one that a version has may be variadic.
const PortDef& input_def(const Version& version, std::size_t port);

/// An attribute of one integer; nothing where the version has none of this name, or it is left out.
std::optional<i64> integer_attribute(const Node& node, std::string_view attribute);

}  // namespace ovir::tools
