#include "op/ports.hpp"

#include <fmt/core.h>

namespace ovir {

std::string port_name(const Version& version, int port) {
  const auto defs = version.inputs;
  if (port < 0) return "input";
  const auto at = static_cast<std::size_t>(port);
  if (!defs.empty() && is_endless(defs.back()) && at + 1 >= defs.size())
    return fmt::format("{}[{}]", defs.back().name, at + 1 - defs.size());
  return at < defs.size() ? std::string(defs[at].name) : fmt::format("input {}", port);
}

void fail_at(const Version& version, int port, Code code, std::string message, std::vector<Remedy> remedies) {
  Diagnostic d;
  d.code = code;
  d.message = std::move(message);
  if (port >= 0) d.port = PortRef{true, port, std::nullopt, port_name(version, port)};
  d.remedies = std::move(remedies);
  fail(std::move(d));
}

}  // namespace ovir
