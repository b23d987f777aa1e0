// --precision, as the commands that plan a run have it.
#pragma once
#include <string>

#include "flags.hpp"
#include "plan/plan.hpp"

namespace ovir::app {

/// `about`: what the help page says; empty: what the words mean.
void add_precision(Flags& flags, std::string& to, const std::string& about = {});
/// What one of its words stands for.
Precision precision_from(const std::string& word);

}  // namespace ovir::app
