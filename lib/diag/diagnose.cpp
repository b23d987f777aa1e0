#include "diag/diagnose.hpp"

#include <utility>

namespace ovir {

Diagnostic diagnose(Code code, std::string message, SourceLoc at) {
  Diagnostic d;
  d.severity = severity(code);
  d.code = code;
  d.message = std::move(message);
  d.at = std::move(at);
  return d;
}

}  // namespace ovir
