#include "tools/input_ports.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace ovir::tools {

const PortDef& input_def(const Version& version, std::size_t port) {
  return version.inputs[std::min(port, version.inputs.size() - 1)];
}

std::optional<i64> integer_attribute(const Node& node, std::string_view attribute) {
  const auto* def = node.version->attrs.find(attribute);
  const auto text = def ? def->print(node.attrs.get()) : std::nullopt;
  return text ? parse_number<i64>(*text) : std::nullopt;
}

}  // namespace ovir::tools
