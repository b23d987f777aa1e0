#include "op/ports.hpp"

#include "diag/diagnostic.hpp"

#include <fmt/core.h>

namespace ovir {

std::string port_name(const Version& version, int port) {
  const auto defs = version.inputs;
  if (port < 0) return "input";
  if (!defs.empty() && is_endless(defs.back()) && port + 1 >= std::ssize(defs))
    return fmt::format("{}[{}]", defs.back().name, port + 1 - std::ssize(defs));
  return port < std::ssize(defs) ? std::string(defs[port].name) : fmt::format("input {}", port);
}

void fail_at(const Version& version, int port, Code code, std::string message, std::vector<Remedy> remedies) {
  auto d = diagnose(code, std::move(message));
  if (port >= 0) d.port = PortRef{true, port, std::nullopt, port_name(version, port)};
  d.remedies = std::move(remedies);
  fail(std::move(d));
}

}  // namespace ovir
