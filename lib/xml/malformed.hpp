// E0101: where an XML document is not well-formed, and what was expected there. W0907: where it can be read all the
// same.
#pragma once
#include <memory>
#include <pugixml.hpp>

#include "diag/diagnostic.hpp"

namespace ovir::xml {

/// The diagnostic of a failed parse of `source`.
Diagnostic malformed(const std::shared_ptr<const SourceFile>& source, const pugi::xml_parse_result& result);

/// Warns of the first bare `&` and of the first byte that is not UTF-8.
void warn_of_characters(const std::shared_ptr<const SourceFile>& source, Diagnostics& diagnostics);

}  // namespace ovir::xml
