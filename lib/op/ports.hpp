// Input ports in messages, for kernels and inference alike.
#pragma once
#include <string>

#include "diag/diagnostic.hpp"
#include "op/op_def.hpp"

namespace ovir {

/// The name of an input port: "data", or "inputs[2]" of a variadic one.
std::string port_name(const Version& version, int port);

/// Throws a Failure about input `port`; `port` < 0: about none.
[[noreturn]] void fail_at(const Version& version, int port, Code code, std::string message,
                          std::vector<Remedy> remedies = {});

}  // namespace ovir
