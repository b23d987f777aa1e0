// Manual pages, from what help pages are made of.
#pragma once
#include <string>

#include "command.hpp"

namespace ovir::app {

/// ovir(1).
std::string man_overview();
/// ovir-run(1).
std::string man_page(const Command& command, const Flags& flags);

}  // namespace ovir::app
