// The one way to begin a diagnostic.
#pragma once
#include <string>

#include "diag/diagnostic.hpp"

namespace ovir {

/// With the severity that its code has. Layer, port, notes and remedies are set by who knows them.
Diagnostic diagnose(Code code, std::string message, SourceLoc at = {});

}  // namespace ovir
