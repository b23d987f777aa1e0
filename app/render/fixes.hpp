// The `help:` of diagnostics: what tools/fix has found and tried.
#pragma once
#include <string>

#include "cli.hpp"
#include "tools/fix.hpp"

namespace ovir::app {

/// The model as it was read, to be checked with changes.
tools::CheckedModel subject_of(const ModelOptions& options, const Model& model);

/// "version="opset8"", "{-1, 4, 64}".
std::string describe(const Remedy&);
/// Gives the diagnostics their `help` and `fix`.
void add_help(Diagnostics& diagnostics, const Model& model, const tools::Fixes& fixes, const ModelOptions& options);
/// Without the contradictions that have their cause elsewhere and go with it; that one says how many they are. For
/// people.
Diagnostics without_consequences(const Diagnostics& diagnostics, const tools::Fixes& fixes);
/// "help: `ovir edit model.xml --fix -o model_fixed.xml` makes these 3 changes"; empty where there is nothing to be
/// made.
std::string fix_line(const tools::Fixes& fixes, const ModelOptions& options, const Style& style);

}  // namespace ovir::app
