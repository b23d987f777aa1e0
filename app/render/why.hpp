// `shapes --why`: where a length comes from.
#pragma once
#include <string>

#include "ovir.hpp"

namespace ovir::app {

/// `target` is LAYER[:port[:axis]]. With an axis every step back to the Parameter or constant that decides it, else
/// one line an axis. Throws UsageError.
std::string why(const Model& model, const Facts& facts, const std::string& target);
/// The same as JSON.
std::string why_json(const Model& model, const Facts& facts, const std::string& target);

}  // namespace ovir::app
