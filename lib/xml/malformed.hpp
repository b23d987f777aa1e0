// E0101: where an XML document is not well-formed, and what was expected there.
#pragma once
#include <memory>
#include <pugixml.hpp>

#include "diag/diagnostic.hpp"

namespace ovir::xml {

/// The diagnostic of a failed parse of `source`.
Diagnostic malformed(const std::shared_ptr<const SourceFile>& source, const pugi::xml_parse_result& result);

}  // namespace ovir::xml
